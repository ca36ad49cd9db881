package cleanup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// Liveness is what shows that the operator is at work, or would be at once. It holds no times: the same
// operator gives the same Liveness whenever it is read.
type Liveness struct {
	Workloads []string `json:"workloads,omitempty"`
	// Pods have not terminated, and no workload that has replicas explains them. A pod that is not ready counts: on a
	// node that is cut off its containers run on.
	Pods []string `json:"pods,omitempty"`
	// RenewedLeases were seen to be renewed while they were watched.
	RenewedLeases []string `json:"renewedLeases,omitempty"`
}

// Alive tells whether anything shows it.
func (l Liveness) Alive() bool { return len(l.Workloads)+len(l.Pods)+len(l.RenewedLeases) > 0 }

// String names all that shows it.
func (l Liveness) String() string {
	signs := slices.Clone(l.Workloads)
	for _, pod := range l.Pods {
		signs = append(signs, "pod "+pod)
	}
	for _, lease := range l.RenewedLeases {
		signs = append(signs, "lease "+lease+" is being renewed")
	}
	return strings.Join(signs, ", ")
}

// Liveness finds workloads with replicas and pods that have not terminated; when there are none it watches the
// operator's leases, which may take as long as their span.
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
	if seen.Pods, err = o.activePods(ctx, workloads); err != nil || seen.Alive() {
		return seen, err
	}
	seen.RenewedLeases, err = o.renewedLeases(ctx, report)
	return seen, err
}

// activePods names the operator's pods that have not terminated, with their phase and node: those of its namespace,
// whoever made them, those of its --selectors, and those of its workloads elsewhere, whose labels may be others.
func (o *Operator) activePods(ctx context.Context, workloads []Workload) ([]string, error) {
	in := o.scopes()
	for _, workload := range workloads {
		if workload.Namespace == o.Namespace {
			continue
		}
		if workload.pods.String() == "" { // it would be all pods of the namespace
			return nil, apierr.New(apierr.Terminal, "%s has no selector for its pods", workload.Object)
		}
		in = append(in, kube.Scope{Namespace: workload.Namespace, Selector: workload.pods.String()})
	}
	var active []string
	for _, scope := range in {
		found, err := o.activePodsIn(ctx, scope, workloads)
		if err != nil {
			return nil, err
		}
		active = append(active, found...)
	}
	slices.Sort(active)
	return slices.Compact(active), nil
}

func (o *Operator) activePodsIn(
	ctx context.Context, in kube.Scope, workloads []Workload,
) (active []string, _ error) {
	explained := func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(workloads, func(w Workload) bool {
			return w.Replicas > 0 && w.Namespace == pod.Namespace && w.pods.Matches(labels.Set(pod.Labels))
		})
	}
	list := o.Client.CoreV1().Pods(in.Namespace).List
	err := kube.RetryExpired(func() error {
		active = nil
		return kube.ListPages(ctx, o.Cluster, "listing the operator's pods", in.Options(), list,
			func(page *corev1.PodList) error {
				for i := range page.Items {
					if pod := &page.Items[i]; podActive(pod) && !explained(pod) {
						active = append(active, describePod(pod))
					}
				}
				return nil
			})
	})
	return active, err
}

// podActive tells whether containers of a pod may run, now or later. Those of a pod that was deleted before it had a
// node never do: the API server refuses to bind it
// (https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/storage/storage.go,
// "is being deleted, cannot be assigned to a host"). Such a pod is left where a finalizer holds it.
func podActive(pod *corev1.Pod) bool {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return false
	case pod.DeletionTimestamp != nil && pod.Spec.NodeName == "":
		return false
	}
	return true
}

// describePod says which pod it is, and where to find it.
func describePod(pod *corev1.Pod) string {
	state := string(cmp.Or(pod.Status.Phase, corev1.PodUnknown))
	if pod.DeletionTimestamp != nil {
		state = "Terminating"
	}
	if pod.Spec.NodeName != "" {
		state += " on node " + pod.Spec.NodeName
	}
	return fmt.Sprintf("%s/%s (%s)", pod.Namespace, pod.Name, state)
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
