package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
)

// pushed is the pull request that was pushed during the outage: of its jobs one never ran.
const pushed = 14

// missed is the job that never ran on it.
const missed = "pull-app-e2e"

// push is what GitHub knows of it, an hour later.
func push(world *githubsim.World) {
	anHourAgo := time.Now().Add(-time.Hour)
	pull := world.Repo("example/app").Pull(pushed)
	pull.Author, pull.Association, pull.Head = "contributor", "MEMBER", headOf(pushed)
	pull.Created, pull.Updated = anHourAgo, anHourAgo
	pull.Files = []githubsim.File{{Name: "main.go", Status: "modified"}}
	commit := world.Repo("example/app").Commit(pull.Head)
	commit.Date = anHourAgo
	commit.Statuses = []githubsim.Status{{Context: "pull-app-unit", State: "success", Created: anHourAgo}}
}

// unblocked lets the runbook start the job that never ran. crier reports it.
func (d *day) unblocked(ctx context.Context) error {
	if _, err := d.Crier(ctx, d.repo.files, d.bot); err != nil {
		return err
	}
	d.say("Pull request %d was pushed during the outage: %s never ran on it.", pushed, missed)
	ctx, stop := context.WithCancel(ctx)
	hooked := make(chan error, 1)
	go func() { hooked <- d.hook(ctx) }()
	said, err := d.run(ctx, 0, append([]string{"run", "unblock-pull-requests"}, configured("--bot", botLogin)...)...)
	stop()
	if failed := <-hooked; !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, failed)
	}
	if err != nil {
		return err
	}
	return expect(said, "remediated")
}

// hook does what Prow's hook and the job itself would: a comment makes a ProwJob, and its pod succeeds.
func (d *day) hook(ctx context.Context) error {
	if err := prowtest.Until(ctx, "somebody comments", func(context.Context) error {
		asked := false
		d.github.Update(func(world *githubsim.World) {
			for _, comment := range world.Repo("example/app").Pull(pushed).Comments {
				asked = asked || strings.HasPrefix(comment.Body, "/test "+missed)
			}
		})
		if !asked {
			return errors.New("nobody has")
		}
		return nil
	}); err != nil {
		return err
	}
	job := prowtest.Job{
		Name: "4a6f6273-0000-4000-8000-000000009999", Job: missed, Type: prowtest.Presubmit,
		Repo: "example/app", Pull: pushed, SHA: headOf(pushed), Secrets: []string{account},
	}
	if err := d.Create(ctx, prowJobs, pods, job); err != nil {
		return err
	}
	return d.succeed(ctx, job.Name)
}

// succeed lets the container of a pod end well as soon as it runs.
func (d *day) succeed(ctx context.Context, name string) error {
	client := d.Plane.Client().CoreV1().Pods(pods)
	err := prowtest.Until(ctx, "pod "+name+" runs", func(ctx context.Context) error {
		pod, err := client.Get(ctx, name, metav1.GetOptions{})
		if err == nil && pod.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return err
	})
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"status": corev1.PodStatus{
		Phase: corev1.PodSucceeded,
		ContainerStatuses: []corev1.ContainerStatus{{Name: "test", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed", FinishedAt: metav1.Now()},
		}}},
	}})
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("ending pod %s: %w", name, err)
	}
	return nil
}
