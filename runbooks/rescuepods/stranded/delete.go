package stranded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

const (
	// podBatch is how many pods are deleted before a pause, by default.
	podBatch = 50
	// podPause is the default pause: it leaves the API server, and whoever
	// watches pods, room to follow.
	podPause = time.Second
	// deleteRounds bounds how often one pod is tried that changes meanwhile.
	deleteRounds = 8
)

// Deletion says how pods are deleted.
type Deletion struct {
	// Batch is how many pods are deleted before a pause; zero means 50.
	Batch int
	// Pause is the time between two batches; zero means a second.
	Pause time.Duration
	// Still decides whether a pod that changed since it was read is to be deleted
	// all the same. Nil means no.
	Still func(Pod) bool
	// Strict ends the deletion for good with the first pod that is not as it was read: what changed is seen before
	// another one is deleted. Still is not asked then.
	Strict bool
	// Progress is called after each batch. May be nil.
	Progress func(runbook.Progress)
}

// DeletePods deletes pods as they were read: not another one of the same name, and
// not one that has changed since, unless it is still to be deleted as it is now. A
// pod that is gone is no error, and neither are finalizers, which are left alone:
// the pod stays until they are gone. An error after some were deleted has class
// Transient, whatever its cause: it has to be observed what happened. That of a strict
// deletion is a *runbook.EndedError.
func (s *Search) DeletePods(ctx context.Context, pods []Pod, how Deletion) error {
	if how.Batch <= 0 {
		how.Batch = podBatch
	}
	if how.Pause <= 0 {
		how.Pause = podPause
	}
	work := &deletion{search: s, permit: runbook.PermitFrom(ctx), how: how}
	for first := 0; first < len(pods); first += how.Batch {
		var err error
		if first > 0 {
			err = clock.Sleep(ctx, s.Clock, how.Pause)
		}
		if some := pods[first:min(first+how.Batch, len(pods))]; err == nil {
			err = kube.Parallel(ctx, len(some), func(ctx context.Context, i int) error { return work.delete(ctx, some[i]) })
		}
		switch {
		case errors.As(err, new(*runbook.EndedError)):
			return fmt.Errorf("%d of %d pods were deleted: %w", work.deleted, len(pods), err)
		case err != nil && work.deleted > 0:
			return apierr.New(apierr.Transient, "%d of %d pods were deleted: %w", work.deleted, len(pods), err)
		case err != nil:
			return err
		case how.Progress != nil:
			how.Progress(runbook.Progress{Text: fmt.Sprintf("%d of %d pods deleted", work.deleted, len(pods)-work.spared)})
		}
	}
	return nil
}

// deletion is one of many pods, at work.
type deletion struct {
	search *Search
	permit runbook.Permit
	how    Deletion

	mu      sync.Mutex
	deleted int
	spared  int
}

func (d *deletion) delete(ctx context.Context, pod Pod) error {
	left, err := d.search.deletePod(ctx, pod, d.how)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil:
		return fmt.Errorf("deleting pod %s: %w", pod, err)
	case left != nil:
		d.spared++
	default:
		d.deleted++
	}
	return nil
}

// deletePod deletes one pod under the precondition that it is what was read. It
// gives the pod as it is now when it is to be left.
func (s *Search) deletePod(ctx context.Context, seen Pod, how Deletion) (left *Pod, _ error) {
	for range deleteRounds {
		if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
			return nil, err
		}
		uid, version := seen.UID, seen.version
		conditions := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}}
		err := kube.Classify(backoff.Once(ctx, s.Clock, func(ctx context.Context) error {
			return s.Client.CoreV1().Pods(seen.Namespace).Delete(ctx, seen.Name, conditions)
		}))
		if err == nil || apierr.ClassOf(err) == apierr.Missing {
			return nil, nil
		}
		if apierr.ClassOf(err) != apierr.Conflict {
			return nil, err
		}
		if how.Strict {
			return nil, &runbook.EndedError{Err: apierr.New(apierr.Terminal, "precondition failed: %w", err)}
		}
		now, err := s.podNow(ctx, seen)
		switch {
		case err != nil:
			return nil, err
		case now == nil || now.Deleting:
			return nil, nil
		case how.Still == nil || !how.Still(*now):
			return now, nil
		}
		seen = *now
	}
	return nil, apierr.New(apierr.Conflict, "it changed %d times while it was tried", deleteRounds)
}

// podNow reads a pod again; nil when it is gone, and another one may have its name.
func (s *Search) podNow(ctx context.Context, seen Pod) (now *Pod, _ error) {
	err := s.Read(ctx, "reading pod "+seen.String(), func(ctx context.Context) error {
		found, err := s.Client.CoreV1().Pods(seen.Namespace).Get(ctx, seen.Name, metav1.GetOptions{})
		if err == nil && found.UID == seen.UID {
			fresh := podOf(found)
			now = &fresh
		}
		return err
	})
	if err != nil && apierr.ClassOf(err) == apierr.Missing {
		return nil, nil
	}
	return now, err
}
