package stranded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/runbook"
)

// Status is what became of pods that were read earlier.
type Status struct {
	// Stranded still are; Free may start where they are. Unselected are there, and somebody took away the labels by
	// which they were found: they are left alone.
	Stranded, Free, Unselected []Pod
	// Terminating pods are deleted and not gone. Stuck ones are too, and have finalizers.
	Terminating, Stuck []Pod
	Gone               []Pod
}

// StatusOf says what became of pods. Of those that the reading does not hold it asks the API server.
func (r *Reading) StatusOf(ctx context.Context, pods []Pod) (Status, error) {
	now, unlisted := r.listed(pods)
	var err error
	now.Gone, now.Unselected, err = r.search.unlisted(ctx, unlisted)
	return now, err
}

// listed is the status of those pods that the reading holds.
func (r *Reading) listed(pods []Pod) (now Status, unlisted []Pod) {
	wanted := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		wanted[pod.UID] = true
	}
	for _, pod := range r.Stranded {
		if wanted[pod.UID] {
			now.Stranded = append(now.Stranded, pod.Pod)
			delete(wanted, pod.UID)
		}
	}
	for _, pod := range r.Left {
		switch {
		case !wanted[pod.UID]:
			continue
		case !pod.Deleting:
			now.Free = append(now.Free, pod.Pod)
		case len(pod.Finalizers) > 0:
			now.Stuck = append(now.Stuck, pod.Pod)
		default:
			now.Terminating = append(now.Terminating, pod.Pod)
		}
		delete(wanted, pod.UID)
	}
	for _, pod := range pods {
		if wanted[pod.UID] {
			unlisted = append(unlisted, pod)
		}
	}
	return now, unlisted
}

// Deleted are the pods of which nothing more will come, whether or not they are
// gone.
func (r Status) Deleted() []Pod { return slices.Concat(r.Gone, r.Terminating, r.Stuck) }

// Left says what of them is left that should be gone; it is empty when nothing is.
func (r Status) Left() string {
	switch {
	case len(r.Stranded) > 0:
		return fmt.Sprintf("still stranded: %d, such as %s", len(r.Stranded), r.Stranded[0])
	case len(r.Stuck) > 0:
		return fmt.Sprintf("deleted and held by finalizers: %d, such as %s by %s", len(r.Stuck), r.Stuck[0],
			strings.Join(r.Stuck[0].Finalizers, ", "))
	case len(r.Terminating) > 0:
		return fmt.Sprintf("still terminating: %d, such as %s", len(r.Terminating), r.Terminating[0])
	}
	return ""
}

// Touched says of a pod that was deleted although something in it has started that
// it was; it is empty when there is none.
func (r Status) Touched() string {
	for _, pod := range slices.Concat(r.Stuck, r.Terminating) {
		if pod.Began != "" {
			return fmt.Sprintf("pod %s is deleted, and its container %s has started", pod, pod.Began)
		}
	}
	return ""
}

// Deletion says how far the deletion of pods is. What finalizers hold is deleted:
// they are for somebody else to remove.
func (r Status) Deletion() runbook.Observation {
	switch {
	case len(r.Stranded) > 0:
		return runbook.NotStarted("still stranded: %d", len(r.Stranded))
	case len(r.Terminating) > 0:
		return runbook.InFlight("terminating: %d", len(r.Terminating))
	}
	return runbook.Done("gone: %d, held by finalizers: %d, free to start: %d, no longer selected: %d",
		len(r.Gone), len(r.Stuck), len(r.Free), len(r.Unselected))
}

// pollPause is the time between two reads of the same thing.
func pollPause(passed time.Duration) time.Duration {
	return backoff.Polling{First: time.Second, Longest: 15 * time.Second, Share: 0.1}.Next(passed, 0)
}

// Until asks again and again until the answer is yes, or the time is over, which is
// no error.
func (s *Search) Until(
	ctx context.Context, limit time.Duration, ask func(context.Context) (enough bool, _ error),
) error {
	began := s.Clock.Now()
	for {
		enough, err := ask(ctx)
		passed := s.Clock.Since(began)
		if err != nil || enough || passed >= limit {
			return err
		}
		if err := clock.Sleep(ctx, s.Clock, min(pollPause(passed), limit-passed)); err != nil {
			return err
		}
	}
}
