package main

import (
	"context"
	"fmt"
	"maps"
	"os"

	corev1 "k8s.io/api/core/v1"
)

// The two releases. What the first deploys, the rollback deploys again.
const (
	goodImage = "v20190201-aaaaaaa"
	badImage  = "v20190205-bbbbbbb"
)

func goodRelease() release { return release{pods: pods, image: goodImage, protector: goodImage} }

func (d *day) acts() []act {
	return []act{
		{"A Prow at work", d.atWork},
		{"The change, before it is merged", d.checked},
		{"The release", d.released},
		{"The way back", d.rolledBack},
		{"The clean-up", d.cleanedUp},
		{"An old branchprotector", d.reverted},
		{"The protection is repaired", d.repaired},
		{"Pull requests go on", d.unblocked},
		{"What happened", d.explained},
		{"The post-mortem", d.told},
	}
}

// configured name the configuration alone.
func configured(more ...string) []string {
	return append([]string{"--config", "prow/config.yaml", "--job-config", "prow/jobs"}, more...)
}

// flags name the configuration as every command of Prow's does.
func flags(more ...string) []string {
	return append(configured("--manifests", "prow/cluster"), more...)
}

func (d *day) atWork(ctx context.Context) error {
	d.repo = &repository{folder: d.folder + "/infra"}
	if err := os.MkdirAll(d.repo.folder, 0o750); err != nil {
		return fmt.Errorf("making the repository: %w", err)
	}
	if err := d.repo.git(ctx, "init", "--quiet", "--initial-branch=main"); err != nil {
		return err
	}
	if err := d.repo.commit(ctx, "Prow "+goodImage, goodRelease()); err != nil {
		return err
	}
	if err := d.deploy(ctx); err != nil {
		return err
	}
	if _, err := d.BranchProtector(ctx, d.repo.files, d.bot); err != nil {
		return err
	}
	if err := d.start(ctx, 0, d.running); err != nil {
		return err
	}
	var err error
	d.alive, err = d.await(ctx, pods, corev1.PodRunning, d.running)
	if err != nil {
		return err
	}
	d.say("%d jobs run in namespace %s. branchprotector has protected the branches.", d.running, pods)
	watch := append([]string{"prow", "watch"}, configured("--until", "ALERT")...)
	if d.watch, err = d.background(ctx, "Watching ProwJobs", watch...); err != nil {
		return err
	}
	return d.recordWatch(ctx, watch)
}

func (d *day) checked(ctx context.Context) error {
	bad := release{pods: astray, image: badImage, protector: badImage}
	if err := d.repo.commit(ctx, "Bump Prow to "+badImage, bad); err != nil {
		return err
	}
	d.say("One commit moves the pods to namespace %s, and updates the deployer and branchprotector in one breath.", astray)
	said, err := d.run(ctx, 1, append([]string{"prow", "check"}, flags("--base", "HEAD~1")...)...)
	if err != nil {
		return err
	}
	return expect(said, "ALERT", "P4", "C4")
}

func (d *day) repaired(ctx context.Context) error {
	said, err := d.run(ctx, 0, append([]string{"run", "repair-branch-protection"}, flags()...)...)
	if err != nil {
		return err
	}
	if err := expect(said, "remediated"); err != nil {
		return err
	}
	d.github.ForgetCalls()
	if _, err := d.BranchProtector(ctx, d.repo.files, d.bot); err != nil {
		return err
	}
	if changes := d.github.Changes(); len(changes) > 0 {
		return fmt.Errorf("branchprotector changed %v", changes)
	}
	d.say("Prow's own branchprotector, run with the same configuration, finds nothing to change.")
	return nil
}

// untouched fails unless the pods that ran when the day began still do.
func (d *day) untouched(ctx context.Context) error {
	now, err := d.await(ctx, pods, corev1.PodRunning, d.running+d.started+proof)
	if err != nil {
		return err
	}
	maps.DeleteFunc(now, func(uid string, _ bool) bool { return !d.alive[uid] })
	if len(now) != d.running {
		return fmt.Errorf("%d of %d pods that ran were replaced", d.running-len(now), d.running)
	}
	d.say("The %d pods that ran when the day began still run.", d.running)
	return nil
}

// reverted is the afternoon: an old branchprotector comes back, and salve tells by what it requires.
func (d *day) reverted(ctx context.Context) error {
	d.oldProtector()
	said, err := d.run(ctx, 1, append([]string{"prow", "check", "--live", "--github"}, flags()...)...)
	if err != nil {
		return err
	}
	return expect(said, "ALERT", "B3", "old branchprotector")
}
