package removeoperator_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/runbook"
)

// TestRunningOperatorIsStoppedAndRemoved: its pods run on a node, and are awaited.
func TestRunningOperatorIsStoppedAndRemoved(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.inputs.CascadeWait.Duration = untilNamespacesGo
	o.inputs.StopOperator = true
	o.plane.Nodes(t, 1, nil)
	o.deployment(2)
	pods := o.admin.Client.CoreV1().Pods(o.namespace)
	o.eventually("the pods run", func(ctx context.Context) bool {
		running, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running"})
		return err == nil && len(running.Items) == 2
	})
	o.widget("plain")
	o.ends(o.run(), runbook.Remediated)
	o.removed()
}

// TestPodThatNeverRanHoldsNothingUp: it was deleted before it had a node, and a finalizer of the operator's holds it.
func TestPodThatNeverRanHoldsNothingUp(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.inputs.CascadeWait.Duration = untilNamespacesGo
	o.pod("held", `{}`)
	pods := o.admin.Client.CoreV1().Pods(o.namespace)
	_, err := pods.Patch(t.Context(), "held", types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"finalizers":[%q]}}`, o.finalizer()), metav1.PatchOptions{})
	o.must(err)
	o.must(pods.Delete(t.Context(), "held", metav1.DeleteOptions{}))
	held, err := pods.Get(t.Context(), "held", metav1.GetOptions{})
	o.must(err)
	if held.Status.Phase != corev1.PodPending || held.DeletionTimestamp == nil {
		t.Fatalf("the pod is %s, deleted at %v", held.Status.Phase, held.DeletionTimestamp)
	}
	o.widget("plain")
	o.ends(o.run(), runbook.Remediated)
	o.removed()
}
