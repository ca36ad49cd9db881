package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"salve/internal/prow/prowtest"
)

// aRun is the ID of a run.
var aRun = regexp.MustCompile(`(?m)^\d{8}-\d{6}-[0-9a-f]{6}`)

// explained lists the runs, and explains each.
func (d *day) explained(ctx context.Context) error {
	said, err := d.run(ctx, 0, "runs", "list", "--kubeconfig", d.Plane.Kubeconfig())
	if err != nil {
		return err
	}
	runs := aRun.FindAllString(said, -1)
	if len(runs) != 3 {
		return fmt.Errorf("%d runs are listed, not 3", len(runs))
	}
	d.runs = runs
	for _, run := range runs {
		explained, err := d.shell(ctx, "salve explain "+run+" --kubeconfig "+d.Plane.Kubeconfig()+" | cut -c -160")
		if err != nil {
			return err
		}
		if err := expect(explained, "none comes out different"); err != nil {
			return err
		}
	}
	return nil
}

// findings is the file of what the watch found.
const findings = "watch.jsonl"

// recordWatch has a second watch write what the first one prints, for the post-mortem. It ends with the alarm.
func (d *day) recordWatch(ctx context.Context, watch []string) error {
	file, err := os.Create(filepath.Join(d.repo.folder, findings))
	if err != nil {
		return fmt.Errorf("making the file of findings: %w", err)
	}
	command := d.command(ctx, d.salve, append(watch, "--output", "json")...)
	begins := &recorder{printer: &printer{to: io.Discard}}
	command.Stdout, command.Stderr = file, begins
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting salve: %w", err)
	}
	d.ending = append(d.ending, func() error {
		_ = command.Process.Kill() // where the day broke off it waits for an alarm that never comes
		_ = command.Wait()         // it ends with 1 after an alarm
		return file.Close()
	})
	const began = "Watching ProwJobs" // it has read the configuration, which the release changes
	return prowtest.Until(ctx, "salve says "+began, func(context.Context) error { return expect(begins.String(), began) })
}

// told drafts the post-mortem from the journals and from what the watch found. What people would count by hand stands
// in it.
func (d *day) told(ctx context.Context) error {
	words := append([]string{"report"}, d.runs...)
	words = append(words, "--kubeconfig", d.Plane.Kubeconfig(), "--watch", findings)
	if d.draft != "" {
		words = append(words, "--write", d.draft)
	}
	said, err := d.run(ctx, 0, words...)
	if err != nil {
		return err
	}
	if d.draft != "" {
		written, err := os.ReadFile(d.draft)
		if err != nil {
			return fmt.Errorf("reading the draft: %w", err)
		}
		said = string(written)
	}
	strays := d.running + d.started
	return expect(said, "ALERT A2", fmt.Sprintf("%d of %d live pods are stranded", strays, 2*strays+proof),
		"salve run rescue-stranded-pods --prow-config prow/config.yaml", "protect example/app=main",
		"/repos/example/app/issues/14/comments")
}
