package rescuepods

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

func (r *rescue) record() runbook.Step {
	return runbook.Step{
		Name: "record", Passive: true, Guards: r.beforeDeleting(),
		Changes: "nothing: write down which pods are stranded, export each with its spec, and read all back",
		Observe: stranded.Recorded,
		Apply: func(ctx context.Context, run runbook.Run) error {
			seen, err := r.read(ctx, run)
			if err != nil {
				return err
			}
			return r.Record(ctx, run, seen.Stranded)
		},
	}
}

func all(pods []stranded.Pod) []stranded.Pod    { return pods }
func first(pods []stranded.Pod) []stranded.Pod  { return pods[:min(len(pods), 1)] }
func others(pods []stranded.Pod) []stranded.Pod { return pods[min(len(pods), 1):] }

// deleteFirst deletes one pod alone: what comes of that is seen before the next.
func (r *rescue) deleteFirst() runbook.Step {
	step := r.deletion(first)
	step.Name, step.Guards, step.Irreversible = "delete-first", r.beforeDeleting(), true
	step.Changes = "delete one pod, by its UID, if it still is as it was seen"
	return step
}

func (r *rescue) deleteRest() runbook.Step {
	step := r.deletion(others)
	step.Name, step.Guards = "delete-rest", r.whileDeleting()
	step.Changes = "delete the others in the same way, fifty before each pause; finalizers are left alone"
	return step
}

// status says what became of a part of the recorded pods.
func (r *rescue) status(
	ctx context.Context, run runbook.Run, part func([]stranded.Pod) []stranded.Pod,
) (stranded.Status, error) {
	recorded, _, err := r.RecordedPods(run)
	if err != nil {
		return stranded.Status{}, err
	}
	seen, err := r.read(ctx, run)
	if err != nil {
		return stranded.Status{}, err
	}
	if seen.Blind != nil {
		return stranded.Status{}, seen.Blind
	}
	return seen.StatusOf(ctx, part(recorded))
}

// deletion deletes that part of the recorded pods which is stranded still.
func (r *rescue) deletion(part func([]stranded.Pod) []stranded.Pod) runbook.Step {
	return runbook.Step{
		Budget: time.Hour, Preconditions: []runbook.Guard{r.recordKept()},
		Inputs: func(run runbook.Run) (any, error) {
			recorded, found, err := r.RecordedPods(run)
			if seen := r.seen.Last(); !found && seen != nil { // it is planned, not done
				recorded = seen.Pods()
			}
			return map[string][]string{"pods": stranded.NamesOf(part(recorded))}, err
		},
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			now, err := r.status(ctx, run, part)
			if err != nil {
				return runbook.NotObserved(err)
			}
			return now.Deletion()
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			now, err := r.status(ctx, run, part)
			if err != nil {
				return err
			}
			return r.DeletePods(ctx, now.Stranded, stranded.Deletion{
				Still: stranded.Pod.Untouched, Strict: r.prow != nil, Progress: run.Report,
			})
		},
		Await: func(ctx context.Context, run runbook.Run) error {
			// What holds pods longer is for the checks to name.
			return r.Until(ctx, 2*time.Minute, func(ctx context.Context) (bool, error) {
				r.seen.Reset()
				now, err := r.status(ctx, run, part)
				return len(now.Terminating) == 0, err
			})
		},
	}
}

// jobs are Prow's. One is complete when it says since when, and not before.
func (r *rescue) jobs() stranded.JobKind {
	return stranded.JobKind{
		GroupVersionResource: schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"},
		Label:                "prow.k8s.io/id", Completed: []string{"status", "completionTime"}, Namespace: r.in.ProwJobs,
		Running: runsHere,
	}
}

// runsHere tells of a ProwJob whether Prow has made its pod in the cluster of the ProwJobs, and waits for it
// (https://github.com/kubernetes-sigs/prow/blob/main/pkg/apis/prowjobs/v1/types.go, PendingState, DefaultClusterAlias).
func runsHere(job *unstructured.Unstructured) bool {
	state, _, _ := unstructured.NestedString(job.Object, "status", "state")
	cluster, _, _ := unstructured.NestedString(job.Object, "spec", "cluster")
	return state == "pending" && (cluster == "" || cluster == "default")
}

func (r *rescue) awaitReplacements() runbook.Step {
	return runbook.Step{
		Name: "await-replacements", Passive: true,
		Changes: fmt.Sprintf("nothing: wait up to %s for new pods of unfinished ProwJobs in %s, "+
			"and list what has to be started again", r.in.ReplacedWithin.Duration, r.in.expected()),
		Observe: stranded.ReplacementKnown,
		Apply: func(ctx context.Context, run runbook.Run) error {
			now, err := r.status(ctx, run, all)
			if err != nil {
				return err
			}
			return r.AwaitReplacement(ctx, run, r.jobs(), now.Deleted(), r.in.ReplacedWithin.Duration)
		},
	}
}
