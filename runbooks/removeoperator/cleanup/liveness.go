package cleanup

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// Liveness is what shows that the operator is at work, or would be at once. It holds no times: the same
// operator gives the same Liveness whenever it is read.
type Liveness struct {
	Workloads []string `json:"workloads,omitempty"`
	ReadyPods []string `json:"readyPods,omitempty"`
	// RenewedLeases were seen to be renewed while they were watched.
	RenewedLeases []string `json:"renewedLeases,omitempty"`
}

// Alive tells whether anything shows it.
func (l Liveness) Alive() bool { return len(l.Workloads)+len(l.ReadyPods)+len(l.RenewedLeases) > 0 }

// String names all that shows it.
func (l Liveness) String() string {
	signs := slices.Clone(l.Workloads)
	for _, pod := range l.ReadyPods {
		signs = append(signs, "ready pod "+pod)
	}
	for _, lease := range l.RenewedLeases {
		signs = append(signs, "lease "+lease+" is being renewed")
	}
	return strings.Join(signs, ", ")
}

// Liveness finds workloads with replicas and ready pods; when there are none it watches the operator's
// leases, which may take as long as their span.
func (o *Operator) Liveness(ctx context.Context, report func(runbook.Progress)) (Liveness, error) {
	var seen Liveness
	workloads, err := o.workloads(ctx)
	if err != nil {
		return seen, err
	}
	for _, workload := range workloads {
		if workload.Replicas > 0 {
			seen.Workloads = append(seen.Workloads, workload.String())
		}
	}
	if seen.ReadyPods, err = o.readyPods(ctx); err != nil || seen.Alive() {
		return seen, err
	}
	seen.RenewedLeases, err = o.renewedLeases(ctx, report)
	return seen, err
}

// readyPods names the operator's pods that are ready, whoever made them.
func (o *Operator) readyPods(ctx context.Context) (ready []string, _ error) {
	for _, in := range o.scopes() {
		list := o.Client.CoreV1().Pods(in.Namespace).List
		err := kube.ListPages(ctx, o.Cluster, "listing the operator's pods", in.Options(), list,
			func(page *corev1.PodList) error {
				for i := range page.Items {
					if pod := &page.Items[i]; podReady(pod) {
						ready = append(ready, pod.Namespace+"/"+pod.Name)
					}
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(ready)
	return slices.Compact(ready), nil
}

func podReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// AwaitStopped waits until nothing shows that the operator is at work.
func (o *Operator) AwaitStopped(ctx context.Context, run runbook.Run) error {
	for start := o.Clock.Now(); ; {
		seen, err := o.Liveness(ctx, run.Report)
		if err != nil || !seen.Alive() {
			return err
		}
		run.Report(runbook.Progress{Text: "the operator stops", Details: []string{seen.String()}})
		if err := clock.Sleep(ctx, o.Clock, pollPause(o.Clock.Since(start))); err != nil {
			return err
		}
	}
}
