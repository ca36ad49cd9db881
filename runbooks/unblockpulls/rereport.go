package unblockpulls

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/prow/blocked"
	"salve/internal/prow/cluster"
	"salve/kube"
	"salve/runbook"
)

func prowJobs() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}
}

// askCrier takes the mark off a ProwJob that GitHub was told something, so that crier reports its state: it looks at a
// ProwJob whenever that changes, and reports where the mark is not the state
// (https://github.com/kubernetes-sigs/prow/blob/main/pkg/crier/controller.go). The annotation is the change where there
// is no mark, and says that it was asked for. What changed since it was read is not overwritten.
func (a *action) askCrier(ctx context.Context, run runbook.Run, seen state) error {
	defer a.seen.Reset()
	defer a.prow.forget()
	if seen.Do != blocked.Report || seen.freed || seen.ProwJob.Name != a.planned.Job {
		return nil
	}
	job, err := a.prow.whole(ctx, seen.ProwJob)
	if err != nil {
		return notWritten(err)
	}
	a.asked = a.prow.cluster.Clock.Now()
	return a.prow.reportAgain(ctx, job, run.ID())
}

// whole reads a ProwJob, if it still is as it was seen.
func (i *instance) whole(ctx context.Context, seen cluster.Job) (found *unstructured.Unstructured, _ error) {
	err := i.cluster.Read(ctx, "reading ProwJob "+seen.String(), func(ctx context.Context) (err error) {
		found, err = i.cluster.Dynamic.Resource(prowJobs()).Namespace(i.namespace).Get(ctx, seen.Name, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	state, _, stateErr := unstructured.NestedString(found.Object, "status", "state")
	completed, _, completedErr := unstructured.NestedString(found.Object, "status", "completionTime")
	report, _, reportErr := unstructured.NestedBool(found.Object, "spec", "report")
	switch {
	case stateErr != nil || completedErr != nil || reportErr != nil,
		found.GetUID() != seen.UID, found.GetName() != seen.Name, state != string(seen.State), completed == "", !report,
		found.GetAnnotations()[cluster.AskedAgainAnnotation] != "":
		return nil, apierr.New(apierr.Conflict, "ProwJob %s is not as it was seen", seen)
	}
	return found, nil
}

// reportAgain writes one patch, which holds for this version of the ProwJob alone.
func (i *instance) reportAgain(ctx context.Context, job *unstructured.Unstructured, run string) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"resourceVersion": job.GetResourceVersion(), "annotations": map[string]any{cluster.AskedAgainAnnotation: run},
		},
		"status": map[string]any{"prev_report_states": map[string]any{cluster.GitHubReporter: nil}},
	})
	if err != nil {
		return apierr.New(apierr.Terminal, "patch of ProwJob %s: %w", job.GetName(), err)
	}
	err = backoff.Once(ctx, i.cluster.Clock, func(ctx context.Context) error {
		_, err := i.cluster.Dynamic.Resource(prowJobs()).Namespace(i.namespace).
			Patch(ctx, job.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
		return kube.Classify(err)
	})
	if err != nil {
		return fmt.Errorf("having ProwJob %s reported again: %w", job.GetName(), err)
	}
	return nil
}
