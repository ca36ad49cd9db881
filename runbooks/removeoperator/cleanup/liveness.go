package cleanup

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// renewedRecently is how old the newest renewal of a lease may be for its holder to
// count as alive: several times the span of the leases that controllers use.
const renewedRecently = 2 * time.Minute

// SignsOfLife names what shows that the operator is at work, or would be at once:
// workloads with replicas, ready pods, leases that were renewed of late.
func (o *Operator) Liveness(ctx context.Context) ([]string, error) {
	workloads, err := o.workloads(ctx)
	if err != nil {
		return nil, err
	}
	signs := []string{}
	for _, workload := range workloads {
		if workload.Replicas > 0 {
			signs = append(signs, workload.String())
		}
	}
	for _, in := range o.scopes() {
		err := kube.ListPages(ctx, o.Cluster, "listing the operator's pods", in.Options(), o.Client.CoreV1().Pods(in.Namespace).List, func(list *corev1.PodList) error {
			for i := range list.Items {
				if pod := &list.Items[i]; podReady(pod) {
					signs = append(signs, "ready pod "+pod.Namespace+"/"+pod.Name)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	own := kube.Scope{Namespace: o.Namespace}
	err = kube.ListPages(ctx, o.Cluster, "listing the operator's leases", own.Options(), o.Client.CoordinationV1().Leases(own.Namespace).List, func(list *coordinationv1.LeaseList) error {
		for i := range list.Items {
			if age, held := heldFor(&list.Items[i], o.Clock.Now()); held && age < renewedRecently {
				signs = append(signs, fmt.Sprintf("lease %s, renewed %s ago", o.Namespace+"/"+list.Items[i].Name, age.Round(time.Second)))
			}
		}
		return nil
	})
	return signs, err
}

func podReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// heldFor is the time since a lease was renewed; held is false for one that its
// holder gave back.
func heldFor(lease *coordinationv1.Lease, now time.Time) (age time.Duration, held bool) {
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return 0, false
	}
	renewed := lease.CreationTimestamp.Time
	if lease.Spec.RenewTime != nil {
		renewed = lease.Spec.RenewTime.Time
	}
	return now.Sub(renewed), true
}

// AwaitStopped waits until the operator shows no sign of life.
func (o *Operator) AwaitStopped(ctx context.Context, run runbook.Run) error {
	for began := o.Clock.Now(); ; {
		signs, err := o.Liveness(ctx)
		if err != nil || len(signs) == 0 {
			return err
		}
		run.Report(runbook.Progress{Text: "the operator stops", Details: signs})
		if err := clock.Sleep(ctx, o.Clock, untilGone.Next(o.Clock.Since(began), 0)); err != nil {
			return err
		}
	}
}
