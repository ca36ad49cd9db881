package removeoperator_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"salve/engine"
	"salve/runbook"
)

// TestGuards asks the guards of a real control plane. That a check changes nothing
// is shown by what is there after it.
func TestGuards(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arrange func(*operator)
		guard   string
		answer  runbook.Answer
		ends    runbook.Outcome
		says    string
	}{
		"a retired operator is gone": {
			arrange: func(o *operator) { o.deployment(0) },
			guard:   "operator-gone", answer: runbook.AnswerHolds, says: "nothing of the operator is at work"},
		"replicas are life, ready or not": {
			arrange: func(o *operator) { o.deployment(2) },
			guard:   "operator-gone", answer: runbook.AnswerDoesNotHold, ends: runbook.NothingToDo,
			says: "/operator with 2 replicas"},
		"a lease that is renewed is life, whatever its holder's clock says": {
			arrange: func(o *operator) { o.renew("leader", 3*time.Minute) },
			guard:   "operator-gone", answer: runbook.AnswerDoesNotHold, ends: runbook.NothingToDo,
			says: "lease OPERATOR/leader is being renewed"},
		"a lease that was given back is not": {
			arrange: func(o *operator) { o.lease("leader", "", 0) },
			guard:   "operator-gone", answer: runbook.AnswerHolds},
		"a ready pod is life, whoever made it": {
			arrange: func(o *operator) { o.readyPod("bare") },
			guard:   "operator-gone", answer: runbook.AnswerDoesNotHold, ends: runbook.NothingToDo,
			says: "it is alive: pod OPERATOR/bare (Pending); delete the pods, or wait until they have terminated"},
		"a running pod is life, ready or not": {
			arrange: func(o *operator) { o.pod("cut-off", `{"phase":"Running"}`) },
			guard:   "operator-gone", answer: runbook.AnswerDoesNotHold, ends: runbook.NothingToDo,
			says: "pod OPERATOR/cut-off (Running)"},
		"a pod that has terminated is none": {
			arrange: func(o *operator) {
				o.pod("done", `{"phase":"Succeeded"}`)
				o.pod("crashed", `{"phase":"Failed"}`)
			},
			guard: "operator-gone", answer: runbook.AnswerHolds},
		"what is to be stopped first may live": {
			arrange: func(o *operator) { o.deployment(1); o.inputs.StopOperator = true },
			guard:   "operator-gone", answer: runbook.AnswerHolds, says: "it is stopped first: deployments.apps"},
		"an object that only the group owns would go along": {
			arrange: func(o *operator) { o.configMap(o.team, "owned", o.widget("owner")) },
			guard:   "cascade-contained", answer: runbook.AnswerDoesNotHold, ends: runbook.NeedsAttention,
			says: "configmaps TEAM/owned"},
		"it is allowed with a reason": {
			arrange: func(o *operator) {
				o.configMap(o.team, "owned", o.widget("owner"))
				o.inputs.AllowCascade = "nobody reads it"
			},
			guard: "cascade-contained", answer: runbook.AnswerHolds,
			says: "allowed (nobody reads it): 1 object: configmaps TEAM/owned"},
		"an owner elsewhere keeps it": {
			arrange: func(o *operator) {
				o.configMap(o.team, "owned", o.widget("owner"), o.configMap(o.team, "keeper"))
			},
			guard: "cascade-contained", answer: runbook.AnswerHolds},
		"an owner of a kind that nobody serves keeps nothing": {
			arrange: func(o *operator) {
				nobody := &unstructured.Unstructured{}
				nobody.SetAPIVersion("nowhere.example/v1")
				nobody.SetKind("Nothing")
				nobody.SetName("gone")
				nobody.SetUID("gone")
				o.configMap(o.team, "owned", o.widget("owner"), nobody)
			},
			guard: "cascade-contained", answer: runbook.AnswerDoesNotHold, ends: runbook.NeedsAttention,
			says: "configmaps TEAM/owned"},
		"what lies in the operator's namespace was named": {
			arrange: func(o *operator) {
				owner := o.object(o.widgets, "Widget", o.namespace, "owner")
				o.configMap(o.namespace, "owned", owner)
			},
			guard: "cascade-contained", answer: runbook.AnswerHolds},
		"what the group owns of the group was named": {
			arrange: func(o *operator) { o.widget("child", ownedBy(o.gadget("parent"))) },
			guard:   "cascade-contained", answer: runbook.AnswerHolds},
		"a namespace that somebody else deletes is left to them": {
			arrange: func(o *operator) {
				keeper := o.configMap(o.namespace, "keeper")
				o.hold(keeper, "elsewhere.example/wait")
				o.must(o.admin.Client.CoreV1().Namespaces().Delete(o.Context(), o.namespace, metav1.DeleteOptions{}))
			},
			guard: "namespace-expendable", answer: runbook.AnswerDoesNotHold, ends: runbook.Deferred,
			says: "somebody else is deleting"},
		"a namespace that holds records of runs is not expendable": {
			arrange: func(o *operator) {
				record := &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Name: "run-1-1", Labels: map[string]string{"salve-run": "run-1"}},
				}
				_, err := o.admin.Client.CoreV1().ConfigMaps(o.namespace).Create(o.Context(), record, metav1.CreateOptions{})
				o.must(err)
			},
			guard: "namespace-expendable", answer: runbook.AnswerDoesNotHold, ends: runbook.NeedsAttention,
			says: "holds a journal of Salve: configmaps OPERATOR/run-1-1"},
		"where nothing is, nothing is to do": {
			arrange: func(o *operator) { o.inputs.Group, o.inputs.Namespace = "nobody."+o.group, "no-"+o.namespace },
			guard:   "something-left", answer: runbook.AnswerDoesNotHold, ends: runbook.NothingToDo,
			says: "there is no CRD of nobody."},
		"a namespace without CRDs is still cleaned": {
			arrange: func(o *operator) { o.inputs.Group = "nobody." + o.group },
			guard:   "something-left", answer: runbook.AnswerHolds, says: "0 CRDs with 0 objects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			test.arrange(o)
			result, err := o.engine().Check(t.Context(), o.book(), engine.Options{})
			o.must(err)
			for _, finding := range result.Findings {
				if finding.Guard != test.guard {
					continue
				}
				if finding.Answer != test.answer || !strings.Contains(o.named(finding.Reason), test.says) {
					t.Errorf("%s %s: %s", finding.Guard, finding.Answer, finding.Reason)
				}
				if result.Outcome != test.ends {
					t.Errorf("ended %q, want %q: %s", result.Outcome, test.ends, result.Reason)
				}
				return
			}
			t.Errorf("%s was not asked: %+v", test.guard, result.Findings)
		})
	}
}

// named puts what differs from one test to the next in words.
func (o *operator) named(text string) string {
	text = strings.ReplaceAll(text, o.group, "GROUP")
	names := []string{o.namespace, "OPERATOR", o.team, "TEAM"}
	if len(o.team) > len(o.namespace) { // of which the other one may be a part
		names = []string{o.team, "TEAM", o.namespace, "OPERATOR"}
	}
	return strings.NewReplacer(names...).Replace(text)
}

// lease makes a lease of the operator's, by a clock that is behind.
func (o *operator) lease(name, holder string, behind time.Duration) {
	o.Helper()
	renewed := metav1.NewMicroTime(time.Now().Add(-behind))
	_, err := o.admin.Client.CoordinationV1().Leases(o.namespace).Create(o.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed},
	}, metav1.CreateOptions{})
	o.must(err)
}

// renew renews a lease until the test is over, by a clock that is behind.
func (o *operator) renew(name string, behind time.Duration) {
	o.Helper()
	o.lease(name, "somebody", behind)
	ctx, stop := context.WithCancel(context.Background())
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for tick := time.NewTicker(700 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case now := <-tick.C:
				patch := fmt.Appendf(nil, `{"spec":{"renewTime":%q}}`, now.Add(-behind).UTC().Format(metav1.RFC3339Micro))
				_, _ = o.admin.Client.CoordinationV1().Leases(o.namespace).
					Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			}
		}
	})
	o.Cleanup(func() { stop(); renewing.Wait() })
}

// configMap is an object of no group, with owners.
func (o *operator) configMap(namespace, name string, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	o.Helper()
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, owner := range owners {
		made.OwnerReferences = append(made.OwnerReferences, referenceTo(owner))
	}
	made, err := o.admin.Client.CoreV1().ConfigMaps(namespace).Create(o.Context(), made, metav1.CreateOptions{})
	o.must(err)
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind("ConfigMap")
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetUID(made.UID)
	return object
}

// hold puts a finalizer on a ConfigMap until the test is over.
func (o *operator) hold(configMap *unstructured.Unstructured, finalizer string) {
	o.Helper()
	maps := o.admin.Client.CoreV1().ConfigMaps(configMap.GetNamespace())
	_, err := maps.Patch(o.Context(), configMap.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":["`+finalizer+`"]}}`), metav1.PatchOptions{})
	o.must(err)
	o.Cleanup(func() { o.let(configMap) })
}

// let takes every finalizer off a ConfigMap; one that is gone is gone.
func (o *operator) let(configMap *unstructured.Unstructured) {
	ctx, cancel := o.afterwards()
	defer cancel()
	_, _ = o.admin.Client.CoreV1().ConfigMaps(configMap.GetNamespace()).Patch(ctx, configMap.GetName(),
		types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
}

// readyPod is a pod that says that it is ready, on no node.
func (o *operator) readyPod(name string) {
	o.Helper()
	o.pod(name, `{"conditions":[{"type":"Ready","status":"True"}]}`)
}

// pod is one of the operator's namespace, on no node, with a status that nobody else writes.
func (o *operator) pod(name, status string) {
	o.Helper()
	grace := int64(0)
	pods := o.admin.Client.CoreV1().Pods(o.namespace)
	_, err := pods.Create(o.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		SchedulerName: "nobody", TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
	}}, metav1.CreateOptions{})
	o.must(err)
	patch := []byte(`{"status":` + status + `}`)
	_, err = pods.Patch(o.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	o.must(err)
}
