package recreatepool_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/internal/permit"
	"salve/journal"
	"salve/runbook"
)

// poolLabel is the label by which AKS says whose a node is.
const poolLabel = "kubernetes.azure.com/agentpool"

// after calls do once, when a step has been done.
func (s *stage) after(step string, do func()) {
	s.when(func(e engine.Event) bool {
		return e.Kind == engine.StepEnded && e.Step == step && e.Result != nil && e.Result.Result == journal.Done
	}, do)
}

// when calls do once, at the first event that matches.
func (s *stage) when(matches func(engine.Event) bool, do func()) {
	called := false
	s.watch = append(s.watch, func(event engine.Event) {
		if !called && matches(event) {
			called = true
			do()
		}
	})
}

// standIn is the stand-in that is there now.
func (s *stage) standIn() string {
	s.t.Helper()
	for _, pool := range s.world.Snapshot().Pools {
		if pool.Tags["purpose"] == "salve-stand-in" {
			return pool.Name
		}
	}
	s.t.Error("there is no stand-in")
	return ""
}

// somebody else is at work on the same cluster, with rights of their own.
type somebody struct {
	*stage
	azure  *azure.Client
	permit permit.Permit
}

func (s *stage) somebody() somebody {
	s.t.Helper()
	client, err := azure.New(azure.Options{
		Subscription: s.scenario.Subscription, Credential: s.world.Credential(), Transport: s.world.ARM(),
		Clock: clock.RealClock{},
	})
	s.must(err)
	return somebody{s, client, permit.Mint(permit.Terms{
		Run: "theirs", Expires: time.Now().Add(time.Hour), Now: time.Now, Lease: func(context.Context) error { return nil },
	})}
}

func (o somebody) name(pool string) azure.PoolName {
	return azure.PoolName{ResourceGroup: o.scenario.ResourceGroup, Cluster: o.scenario.Cluster, Pool: pool}
}

// deletes a pool, and waits until it is gone.
func (o somebody) deletes(pool string) {
	ctx := permit.NewContext(context.Background(), o.permit)
	definition, err := o.azure.Definition(ctx, o.name(pool))
	o.must(err)
	operation, err := o.azure.DeletePool(ctx, o.name(pool), definition.ETag(),
		azure.DeletePoolOptions{IgnoreBudgets: true})
	o.must(err)
	o.must(operation.Wait(ctx))
}

// makes a pool like another one, with tags, and waits until it is there.
func (o somebody) makes(pool, like string, tags map[string]any) {
	ctx := permit.NewContext(context.Background(), o.permit)
	definition, err := o.azure.Definition(ctx, o.name(like))
	o.must(err)
	body, err := definition.With(func(properties map[string]any) { properties["tags"] = tags })
	o.must(err)
	operation, err := o.azure.CreatePool(ctx, o.name(pool), body)
	o.must(err)
	o.must(operation.Wait(ctx))
}

// tags a pool, which ends as it was: Failed, where its scale set is corrupted.
func (o somebody) tags(pool string, tags map[string]any) {
	_ = o.starts(pool, tags).Wait(context.Background()) // a corrupted scale set lets it fail
}

// starts an update of a pool's tags.
func (o somebody) starts(pool string, tags map[string]any) *azure.Operation {
	ctx := permit.NewContext(context.Background(), o.permit)
	definition, err := o.azure.Definition(ctx, o.name(pool))
	o.must(err)
	body, err := definition.With(func(properties map[string]any) { properties["tags"] = tags })
	o.must(err)
	operation, err := o.azure.UpdatePool(ctx, o.name(pool), body, definition.ETag())
	o.must(err)
	return operation
}

// cordons the nodes of a pool.
func (o somebody) cordons(pool string) {
	o.patchNodes(pool, `{"spec":{"unschedulable":true}}`)
}

// unlabels the nodes of a pool: no list by AKS's label shows them any more.
func (o somebody) unlabels(pool string) {
	o.patchNodes(pool, fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, poolLabel))
}

// replaces the nodes of a pool: each node of the other pools gets the pool's label, and
// as many of its own are cordoned.
func (o somebody) replaces(pool string) {
	o.t.Helper()
	list, err := o.world.Kubernetes().CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	o.must(err)
	var own, others []string
	for _, node := range list.Items {
		switch label := node.Labels[poolLabel]; {
		case label == pool:
			own = append(own, node.Name)
		case !strings.HasPrefix(node.Name, "aks-s"): // the stand-in goes on serving
			others = append(others, node.Name)
		}
	}
	if len(others) == 0 || len(others) > len(own) {
		o.t.Errorf("%d nodes of other pools for %d of pool %s", len(others), len(own), pool)
		return
	}
	for i, other := range others {
		o.patchNode(other, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, poolLabel, pool))
		o.patchNode(own[i], `{"spec":{"unschedulable":true}}`)
	}
}

func (o somebody) patchNodes(pool, patch string) {
	o.t.Helper()
	nodes := o.world.Kubernetes().CoreV1().Nodes()
	list, err := nodes.List(context.Background(), metav1.ListOptions{LabelSelector: poolLabel + "=" + pool})
	o.must(err)
	if len(list.Items) == 0 {
		o.t.Errorf("pool %s has no nodes", pool)
	}
	for _, node := range list.Items {
		o.patchNode(node.Name, patch)
	}
}

func (o somebody) patchNode(name, patch string) {
	o.t.Helper()
	_, err := o.world.Kubernetes().CoreV1().Nodes().
		Patch(context.Background(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	o.must(err)
}

// end is how a story ended, for expectations.
type end struct {
	t      testing.TB
	s      *stage
	result engine.Result
}

// runOnce runs the scenario's runbook and gives its end.
func (s *stage) runOnce() end {
	s.t.Helper()
	result, err := s.run(context.Background())
	s.must(err)
	return end{s.t, s, result}
}

// outcome of the run, and a part of its reason.
func (e end) outcome(want runbook.Outcome, reason string) {
	e.t.Helper()
	if e.result.Outcome != want || !strings.Contains(e.result.Reason, reason) {
		e.t.Errorf("ended %s: %s; want %s because of %q", e.result.Outcome, e.result.Reason, want, reason)
	}
}

// noRequest of this run: a verb on what has a suffix.
func (e end) noRequest(verb, suffix string) {
	e.t.Helper()
	for _, call := range e.requests(verb, suffix) {
		e.t.Errorf("%s %s was requested", call.Verb, call.Resource)
	}
}

// requests of this run, not of somebody else.
func (e end) requests(verb, suffix string) (found []azuresim.Call) {
	theirs := permitOf(e.s)
	for _, call := range e.s.world.Calls() {
		ours := call.RequestID != "" && call.RequestID != theirs
		if ours && call.Verb == verb && strings.HasSuffix(strings.ToLower(call.Resource), strings.ToLower(suffix)) {
			found = append(found, call)
		}
	}
	return found
}

func permitOf(s *stage) string { return s.somebody().permit.ID() }

// pool of a name is there.
func (e end) pool(name string) azuresim.PoolState {
	e.t.Helper()
	pool, found := poolOf(e.s.world.Snapshot(), name)
	if !found {
		e.t.Errorf("pool %s is gone", name)
	}
	return pool
}
