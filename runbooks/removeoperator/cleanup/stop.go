package cleanup

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/backoff"
	"salve/kube"
	"salve/runbook"
)

// sizesNote keeps the replicas that workloads had before a run stopped them, by UID.
const sizesNote = "sizes"

// mostReplicas is far more than an operator has.
const mostReplicas = 100

// Stopped observes how far the operator's workloads are from having no replicas.
func (o *Operator) Stopped(ctx context.Context, _ runbook.Run) runbook.Observation {
	workloads, err := o.workloads(ctx)
	running := 0
	for _, workload := range workloads {
		if workload.Scalable && workload.Replicas > 0 {
			running++
		}
	}
	if err != nil {
		return runbook.NotObserved(err)
	}
	return Part{All: running}.Observation()
}

// Stop notes in a run how many replicas the operator's workloads have, and scales
// them to zero.
func (o *Operator) Stop(ctx context.Context, run runbook.Run) error {
	workloads, err := o.workloads(ctx)
	if err != nil {
		return err
	}
	sizes := map[types.UID]int32{}
	if _, err := run.Recall(sizesNote, &sizes); err != nil {
		return err
	}
	for _, workload := range workloads {
		if workload.Scalable && workload.Replicas > 0 {
			sizes[workload.UID] = workload.Replicas
		}
	}
	if err := run.Note(ctx, sizesNote, sizes); err != nil {
		return err
	}
	stopped := 0
	for _, workload := range workloads {
		if workload.Scalable && workload.Replicas > 0 {
			if err := o.scale(ctx, workload, 0); err != nil {
				return partly(stopped, "scaled to zero", err)
			}
			stopped++
		}
	}
	return nil
}

// Started observes how many of the workloads that a run has scaled to zero still have
// no replicas.
func (o *Operator) Started(ctx context.Context, run runbook.Run) runbook.Observation {
	stopped, err := o.stoppedBy(ctx, run)
	if err != nil {
		return runbook.NotObserved(err)
	}
	return Part{All: len(stopped)}.Observation()
}

// StartAgain gives the workloads that a run has scaled to zero the replicas that
// they had.
func (o *Operator) StartAgain(ctx context.Context, run runbook.Run) error {
	stopped, err := o.stoppedBy(ctx, run)
	if err != nil {
		return err
	}
	for _, workload := range stopped {
		if err := o.scale(ctx, workload, workload.had); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operator) stoppedBy(ctx context.Context, run runbook.Run) ([]Workload, error) {
	sizes := map[types.UID]int32{}
	if _, err := run.Recall(sizesNote, &sizes); err != nil {
		return nil, err
	}
	workloads, err := o.workloads(ctx)
	var stopped []Workload
	for _, workload := range workloads {
		had, ours := sizes[workload.UID]
		if ours && (had < 1 || had > mostReplicas) {
			return nil, &ForeignError{fmt.Sprintf("%d replicas for %s", had, workload.Object), "the run's record"}
		}
		if ours && workload.Replicas == 0 {
			workload.had = had
			stopped = append(stopped, workload)
		}
	}
	return stopped, err
}

func (o *Operator) scale(ctx context.Context, workload Workload, replicas int32) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"spec":{"replicas":%d}}`, workload.version, replicas)
	err := backoff.Once(ctx, o.Clock, func(ctx context.Context) error {
		_, err := o.Dynamic.Resource(workload.Resource.GroupVersionResource).Namespace(workload.Namespace).
			Patch(ctx, workload.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "salve"}, "scale")
		return err
	})
	if err := kube.Classify(err); err != nil && !kube.IsNotFound(err) {
		return fmt.Errorf("scaling %s to %d: %w", workload.Object, replicas, err)
	}
	return nil
}
