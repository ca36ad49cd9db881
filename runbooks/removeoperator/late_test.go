package removeoperator_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/engine"
	"salve/runbook"
)

// TestWhatCameAfterTheExportStays: nobody could restore it. A CRD of the group, a right of the operator's, and the
// finalizer of an object that somebody else deletes.
func TestWhatCameAfterTheExportStays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind   engine.EventKind
		step   string
		comes  func(*operator)
		stays  func(*operator) bool
		reason string
	}{
		"a CRD": {
			kind: engine.StepEnded, step: "export",
			comes:  func(o *operator) { o.define(o.gadgets.Group, "gadgets", "Gadget", "Cluster") },
			stays:  func(o *operator) bool { return o.there(crds, "", o.gadgets.GroupResource().String()) },
			reason: "gadgets.sub.GROUP",
		},
		"a right": {
			kind: engine.StepEnded, step: "export",
			comes: func(o *operator) {
				_, err := o.admin.Client.RbacV1().RoleBindings(o.team).Create(o.Context(), &rbacv1.RoleBinding{
					ObjectMeta: metav1.ObjectMeta{Name: "late"},
					Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: o.namespace, Name: "operator"}},
					RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
				}, metav1.CreateOptions{})
				o.must(err)
			},
			stays: func(o *operator) bool {
				_, err := o.admin.Client.RbacV1().RoleBindings(o.team).Get(o.Context(), "late", metav1.GetOptions{})
				return err == nil
			},
			reason: "TEAM/late",
		},
		"a finalizer": {
			kind: engine.StepBegan, step: "release-finalizers",
			comes: func(o *operator) {
				o.widget("late", held(o.finalizer()))
				o.delete(o.widgets, o.team, "late")
			},
			stays: func(o *operator) bool {
				late, err := o.admin.Dynamic.Resource(o.widgets).Namespace(o.team).Get(o.Context(), "late", metav1.GetOptions{})
				return err == nil && slices.Equal(late.GetFinalizers(), []string{o.finalizer()})
			},
			reason: "TEAM/late",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			o.inputs.CascadeWait.Duration = untilNamespacesGo
			o.widget("plain")
			o.widget("stuck", held(o.finalizer()))
			o.when(test.kind, test.step, func() { test.comes(o) })
			result := o.run()
			o.ends(result, runbook.NeedsAttention)
			if !test.stays(o) {
				t.Errorf("what was not exported is gone\n%s", o.story())
			}
			if reason := o.named(result.Reason); !strings.Contains(reason, test.reason) {
				t.Errorf("it ended: %s, want %q", reason, test.reason)
			}
		})
	}
}

// TestOperatorThatWasStartedAgainIsNotRemoved: the run has stopped it, and somebody scales it up after the export.
func TestOperatorThatWasStartedAgainIsNotRemoved(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.inputs.StopOperator = true
	o.deployment(1)
	o.widget("plain")
	o.when(engine.StepEnded, "export", func() {
		_, err := o.admin.Client.AppsV1().Deployments(o.namespace).UpdateScale(t.Context(), "operator",
			&autoscalingv1.Scale{
				ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "operator"}, Spec: autoscalingv1.ScaleSpec{Replicas: 1},
			}, metav1.UpdateOptions{})
		o.must(err)
	})
	result := o.run()
	if result.Outcome == runbook.Remediated || !strings.Contains(result.Reason, "it is alive") {
		t.Errorf("ended %s: %s", result.Outcome, result.Reason)
	}
	if !o.there(o.widgets, o.team, "plain") {
		t.Errorf("an object of a living operator was deleted\n%s", o.story())
	}
}

// TestNamespaceThatWasMadeAnewStays: it has the operator's name, and is not the one that was exported.
func TestNamespaceThatWasMadeAnewStays(t *testing.T) {
	t.Parallel()
	o := retired(t)
	namespaces := o.admin.Client.CoreV1().Namespaces()
	o.when(engine.StepEnded, "delete-definitions", func() {
		o.must(namespaces.Delete(t.Context(), o.namespace, metav1.DeleteOptions{}))
		o.eventually("the namespace is gone", func(ctx context.Context) bool {
			_, err := namespaces.Get(ctx, o.namespace, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
		_, err := namespaces.Create(t.Context(),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}}, metav1.CreateOptions{})
		o.must(err)
	})
	result := o.run()
	o.ends(result, runbook.NeedsAttention)
	if found, err := namespaces.Get(t.Context(), o.namespace, metav1.GetOptions{}); err != nil ||
		found.DeletionTimestamp != nil || !strings.Contains(result.Reason, "it was made anew") {
		t.Errorf("the new namespace: %v; %s", err, result.Reason)
	}
}
