package stranded

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// JobKind is a kind of custom resource that pods belong to without an owner
// reference: a pod has the name of its job, and says so by a label. As long as the
// job is not complete its controller makes a new pod when there is none.
type JobKind struct {
	schema.GroupVersionResource
	// Label is the one by which a pod names its job.
	Label string
	// Completed is where a job has the time at which it was complete.
	Completed []string
	// Namespace is that of the jobs; empty means that all are searched.
	Namespace string
	// Running says of a job that a pod of it runs in this cluster.
	Running func(*unstructured.Unstructured) bool
}

// Replacement is what became of the jobs of pods that are gone.
type Replacement struct {
	// Replaced jobs have a pod where it belongs, Complete ones need none, and Waiting
	// ones have none yet.
	Replaced, Complete, Waiting []string
	// StartAgain is what nothing will start again by itself, by the reason. Pods
	// without a job are named with their namespace.
	StartAgain map[string][]string
}

func (a Replacement) String() string {
	return fmt.Sprintf("jobs with new pods: %d, complete: %d, to be started again: %d", len(a.Replaced),
		len(a.Complete), a.lost())
}

func (a *Replacement) lose(why, name string) { a.StartAgain[why] = append(a.StartAgain[why], name) }

func (a Replacement) lost() (n int) {
	for _, names := range a.StartAgain {
		n += len(names)
	}
	return n
}

// shownLost bounds how many names a warning has; the journal holds all of them.
const shownLost = 1000

// listed names what has to be started again, with the reasons.
func (a Replacement) listed() string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(a.StartAgain)) {
		names, more := a.StartAgain[why], ""
		if len(names) > shownLost {
			more = fmt.Sprintf(" and %d more", len(names)-shownLost)
		}
		parts = append(parts, strings.Join(names[:min(len(names), shownLost)], ", ")+more+" ("+why+")")
	}
	return strings.Join(parts, "; ")
}

// replacementNote keeps what had become of the jobs when it was no longer waited for.
const replacementNote = "replacement"

// ReplacementKnown observes whether the journal holds what became of the jobs.
func ReplacementKnown(_ context.Context, run runbook.Run) runbook.Observation {
	found, err := run.Recall(replacementNote, &Replacement{})
	if err != nil {
		return runbook.NotObserved(err)
	}
	return noteOf(found, "what became of the jobs")
}

// ReplacementOf says what became of the jobs of pods that are gone, by the pods that
// are where they belong, and by the jobs. Those that AwaitReplacement listed as to be
// started again don't count as waiting.
func (s *Search) ReplacementOf(ctx context.Context, run runbook.Run, kind JobKind, gone []Pod) (Replacement, error) {
	var known Replacement
	if _, err := run.Recall(replacementNote, &known); err != nil {
		return known, err
	}
	jobs, err := s.completeJobs(ctx, kind, gone)
	if err != nil {
		return known, err
	}
	after, err := s.evaluateJobs(ctx, kind, jobs, gone)
	for why, names := range known.StartAgain {
		after.giveUp(why, names)
	}
	return after, err
}

// giveUp lists those of some jobs that wait as to be started again.
func (a *Replacement) giveUp(why string, jobs []string) {
	some := make(map[string]bool, len(jobs))
	for _, job := range jobs {
		some[job] = true
	}
	a.Waiting = slices.DeleteFunc(slices.Clone(a.Waiting), func(job string) bool {
		if some[job] {
			a.lose(why, job)
		}
		return some[job]
	})
}

// AwaitReplacement polls until no job waits for a new pod, for as long as limit, and
// notes what became of them in the journal. What has to be started again is said
// in a warning; that is all which waits still, too. The jobs are read when it begins
// and, when some wait, when it ends; the pods where they belong in between.
func (s *Search) AwaitReplacement(
	ctx context.Context, run runbook.Run, kind JobKind, gone []Pod, limit time.Duration,
) error {
	jobs, err := s.completeJobs(ctx, kind, gone)
	if err != nil {
		return err
	}
	var after Replacement
	err = s.Until(ctx, limit, func(ctx context.Context) (_ bool, err error) {
		after, err = s.evaluateJobs(ctx, kind, jobs, gone)
		run.Report(runbook.Progress{
			Text: fmt.Sprintf("%d jobs have new pods, %d have none yet", len(after.Replaced), len(after.Waiting)),
		})
		return len(after.Waiting) == 0, err
	})
	if err == nil && len(after.Waiting) > 0 { // some may be complete by now
		if jobs, err = s.completeJobs(ctx, kind, gone); err == nil {
			after, err = s.evaluateJobs(ctx, kind, jobs, gone)
		}
	}
	if err != nil {
		return err
	}
	after.giveUp(fmt.Sprintf("no new pod within %s", limit), after.Waiting)
	if len(after.StartAgain) > 0 {
		if err := run.Warn(ctx, "to be started again: %s", after.listed()); err != nil {
			return err
		}
	}
	return run.Note(ctx, replacementNote, after)
}

// evaluateJobs finds new pods by the label alone: they need not be of the selector
// by which those that are gone were found.
func (s *Search) evaluateJobs(
	ctx context.Context, kind JobKind, complete map[string]bool, gone []Pod,
) (Replacement, error) {
	after, replaced := Replacement{StartAgain: map[string][]string{}}, map[string]bool{}
	for _, home := range s.Expected {
		pods, err := s.Pods(ctx, kube.Scope{Namespace: home, Selector: kind.Label})
		if err != nil {
			return after, err
		}
		for _, pod := range pods {
			replaced[pod.Labels[kind.Label]] = replaced[pod.Labels[kind.Label]] || !pod.Deleting
		}
	}
	for _, pod := range gone {
		done, found := complete[pod.Name]
		switch {
		case pod.Labels[kind.Label] != pod.Name:
			after.lose("it belongs to no job", pod.String())
		case replaced[pod.Name]:
			after.Replaced = append(after.Replaced, pod.Name)
		case !found:
			after.lose("there is no such job", pod.Name)
		case done:
			after.Complete = append(after.Complete, pod.Name)
		default:
			after.Waiting = append(after.Waiting, pod.Name)
		}
	}
	return after, nil
}

// completeJobs tells of the jobs of pods, as far as there are any, whether they are
// complete. It holds a page of jobs at a time.
func (s *Search) completeJobs(ctx context.Context, kind JobKind, pods []Pod) (map[string]bool, error) {
	wanted, complete := map[string]bool{}, map[string]bool{}
	for _, pod := range pods {
		if pod.Labels[kind.Label] == pod.Name {
			wanted[pod.Name] = true
		}
	}
	if len(wanted) == 0 {
		return complete, nil
	}
	err := s.eachCustom(ctx, kind.GroupVersionResource, kind.Namespace, func() { clear(complete) },
		func(job *unstructured.Unstructured) {
			if wanted[job.GetName()] {
				at, _, _ := unstructured.NestedString(job.Object, kind.Completed...) // empty when it is none
				complete[job.GetName()] = at != ""
			}
		})
	if err != nil && apierr.ClassOf(err) == apierr.Missing { // the jobs are kept in another cluster
		return complete, nil
	}
	return complete, err
}
