package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/prow/prowtest"
)

// released deploys the bad release, and waits for the alarm of the watch.
func (d *day) released(ctx context.Context) error {
	d.say("The release is deployed, and %d jobs are started.", d.started)
	if err := d.deploy(ctx); err != nil {
		return err
	}
	if err := d.start(ctx, d.running, d.started); err != nil {
		return err
	}
	alarm, err := d.watch()
	if err != nil {
		return err
	}
	if err := expect(alarm.said, "ALERT", "A2"); err != nil {
		return err
	}
	strays, err := d.await(ctx, astray, corev1.PodPending, d.running+d.started)
	if err != nil {
		return err
	}
	first, _, err := d.made(ctx, astray)
	if err != nil {
		return err
	}
	d.say("The alarm came %s after the first pod in %s, of %d.", alarm.at.Sub(first).Round(time.Second/10), astray,
		len(strays))
	return nil
}

// alarm is what a watch that ended said, and when it did.
type alarm struct {
	said string
	at   time.Time
}

// background starts salve as it is printed, which is to end with exit code 1, and waits until it says a text.
func (d *day) background(ctx context.Context, says string, arguments ...string) (wait func() (alarm, error), _ error) {
	d.out.print("\n$ salve %s &\n", strings.Join(arguments, " "))
	command := d.command(ctx, d.salve, arguments...)
	output := &recorder{printer: d.out}
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting salve: %w", err)
	}
	ended := make(chan alarm, 1)
	var failed error
	go func() {
		failed = command.Wait()
		ended <- alarm{output.String(), time.Now()}
	}()
	begun := prowtest.Until(ctx, "salve says "+says, func(context.Context) error { return expect(output.String(), says) })
	return func() (alarm, error) {
		select {
		case result := <-ended:
			var exit *exec.ExitError
			if !errors.As(failed, &exit) || exit.ExitCode() != 1 {
				return alarm{}, fmt.Errorf("salve %s ended without an alarm: %w", arguments[0], failed)
			}
			return result, nil
		case <-ctx.Done():
			return alarm{}, context.Cause(ctx)
		}
	}, begun
}

// made is when the first and the last pod of Prow were made in a namespace, by the second.
func (d *day) made(ctx context.Context, namespace string) (first, last time.Time, _ error) {
	list, err := d.Plane.Client().CoreV1().Pods(namespace).List(ctx, ofProw())
	if err != nil {
		return first, last, fmt.Errorf("listing the pods of %s: %w", namespace, err)
	}
	for i := range list.Items {
		made := list.Items[i].CreationTimestamp.Time
		if first.IsZero() || made.Before(first) {
			first = made
		}
		if made.After(last) {
			last = made
		}
	}
	return first, last, nil
}

// rolledBack prints the prepared way out, goes it, and waits until all jobs have a pod where they belong.
func (d *day) rolledBack(ctx context.Context) error {
	if _, err := d.run(ctx, 0, append([]string{"prow", "break-glass"}, flags("--revision", "HEAD~1")...)...); err != nil {
		return err
	}
	d.say("Somebody goes this way by hand. Three new jobs show that it works.")
	if err := d.repo.commit(ctx, "Revert: Prow "+goodImage, goodRelease()); err != nil {
		return err
	}
	if err := d.deploy(ctx); err != nil {
		return err
	}
	// Times in a cluster are whole seconds: what is to prove the fix has to be younger than the youngest stray by one.
	if err := d.aged(ctx, 2*time.Second); err != nil {
		return err
	}
	if err := d.start(ctx, d.running+d.started, proof); err != nil {
		return err
	}
	if _, err := d.await(ctx, pods, corev1.PodRunning, d.running+d.started+proof); err != nil {
		return err
	}
	d.say("All %d jobs have a pod in %s again. In %s %d pods stay: Prow never looks there.",
		d.running+d.started+proof, pods, astray, d.running+d.started)
	return nil
}

// proof is how many jobs show that the fix works.
const proof = 3

// cleanedUp lets the runbook delete the strays, and looks that those that ran still do.
func (d *day) cleanedUp(ctx context.Context) error {
	if err := d.aged(ctx, minAge+time.Second); err != nil {
		return err
	}
	d.say("Two readings of where pods belong are to agree, a minute apart.")
	said, err := d.run(ctx, 0, "run", "rescue-stranded-pods", "--prow-config", "prow/config.yaml",
		"--min-age", minAge.String())
	if err != nil {
		return err
	}
	if err := expect(said, "remediated"); err != nil {
		return err
	}
	if _, err := d.await(ctx, astray, corev1.PodPending, 0); err != nil {
		return err
	}
	return d.untouched(ctx)
}

// minAge is how old the youngest stray has to be. Five minutes are the default: too long for a demonstration.
const minAge = 5 * time.Second

// aged waits until the youngest stray is of an age.
func (d *day) aged(ctx context.Context, age time.Duration) error {
	_, last, err := d.made(ctx, astray)
	if err != nil {
		return err
	}
	return prowtest.Until(ctx, "the youngest stray is old enough", func(context.Context) error {
		if left := age - time.Since(last); left > 0 {
			return fmt.Errorf("%s are left", left)
		}
		return nil
	})
}
