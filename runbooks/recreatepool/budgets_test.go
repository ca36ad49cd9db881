package recreatepool_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/runbook"
	"salve/runbooks/recreatepool"
)

const (
	blockedForGood = "faults: [{pdbBlocks: {app: coredns}}]\n"
	budgetsGuard   = "budgets-respected"
)

// ignoring counts the deletions that were sent with the parameter that has AKS ignore budgets, and those without it.
type ignoring struct{ with, without atomic.Int64 }

func (i *ignoring) through(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete {
			if r.URL.Query().Get("ignore-pod-disruption-budget") == "true" {
				i.with.Add(1)
			} else {
				i.without.Add(1)
			}
		}
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// resume goes on with the run that is open, with what the operator says.
func (s *stage) resume(overrides map[string]string) end {
	s.t.Helper()
	s.scenario.Overrides = overrides
	return s.runOnce()
}

// TestBlockedDrainAsks: with pods left that their budget protects, nothing is deleted; who blocks is told, and how to
// go on.
func TestBlockedDrainAsks(t *testing.T) {
	promise(t, blockedForGood, func(s *stage) {
		var sent ignoring
		s.through = sent.through
		e := s.runOnce()
		e.outcome(runbook.NeedsAttention, "blocked drain")
		if !e.result.Open || !strings.Contains(e.result.Question, "(PodDisruptionBudget coredns)") ||
			!strings.Contains(e.result.Question, "salve resume run-1 --override budgets-respected=REASON") {
			t.Errorf("open %v, question %q", e.result.Open, e.result.Question)
		}
		e.noRequest("DELETE", "/agentPools/system")
		if e.pool(s.standIn()).ProvisioningState != "Succeeded" {
			t.Error("the stand-in does not serve")
		}

		again := s.resume(nil) // nothing has changed: the drain is tried again, and the question asked again
		again.outcome(runbook.NeedsAttention, "blocked drain")
		again.noRequest("DELETE", "/agentPools/system")

		s.world.LiftFaults()
		s.resume(nil).outcome(runbook.Remediated, "")
		if sent.with.Load() != 0 || sent.without.Load() != 2 {
			t.Errorf("%d deletions ignored budgets, %d did not; want none and 2", sent.with.Load(), sent.without.Load())
		}
	})
}

// TestOverrideForcesABlockedDrain: the answer to the question is an override with a reason; the parameter is sent then,
// and the record says so.
func TestOverrideForcesABlockedDrain(t *testing.T) {
	promise(t, blockedForGood, func(s *stage) {
		var sent ignoring
		s.through = sent.through
		s.runOnce().outcome(runbook.NeedsAttention, "blocked drain")
		e := s.resume(map[string]string{budgetsGuard: "agreed with the owners"})
		e.outcome(runbook.Remediated, "")
		if sent.with.Load() != 2 || sent.without.Load() != 0 { // the pool, and the stand-in to which the pods went
			t.Errorf("%d deletions ignored budgets, %d did not; want 2 and none", sent.with.Load(), sent.without.Load())
		}
		if !strings.Contains(strings.Join(e.result.Warnings, "\n"), "agreed with the owners") {
			t.Errorf("warnings %q lack the reason", e.result.Warnings)
		}
	})
}

// TestForceNeedsAReason: by the input alone nothing is begun.
func TestForceNeedsAReason(t *testing.T) {
	promise(t, blockedForGood, func(s *stage) {
		s.scenario.Inputs = map[string]string{"pool": "system", "on-blocked-drain": recreatepool.ForceOnBlockedDrain}
		e := s.runOnce()
		e.outcome(runbook.NeedsAttention, "--override budgets-respected=REASON")
		if e.result.Open || len(s.world.Snapshot().Pools) != len(s.scenario.Pools) {
			t.Errorf("open %v, pools %+v", e.result.Open, s.world.Snapshot().Pools)
		}
	})
}

// TestForceIsNotUsedWithoutNeed: where budgets let the pods go, AKS is not told to ignore them.
func TestForceIsNotUsedWithoutNeed(t *testing.T) {
	promise(t, "", func(s *stage) {
		var sent ignoring
		s.through = sent.through
		s.scenario.Inputs = map[string]string{"pool": "system", "on-blocked-drain": recreatepool.ForceOnBlockedDrain}
		s.scenario.Overrides = map[string]string{budgetsGuard: "just in case"}
		s.runOnce().outcome(runbook.Remediated, "")
		if sent.with.Load() != 0 || sent.without.Load() != 2 {
			t.Errorf("%d deletions ignored budgets, %d did not; want none and 2", sent.with.Load(), sent.without.Load())
		}
	})
}

// TestWaitEndsWithTheRunsTime: a budget that never lets go ends the run as any lack of time does, and all is taken
// back.
func TestWaitEndsWithTheRunsTime(t *testing.T) {
	promise(t, "faults: [{pdbBlocks: {app: coredns, until: 65m}}]\n", func(s *stage) {
		s.scenario.Inputs = map[string]string{"pool": "system", "on-blocked-drain": recreatepool.WaitOnBlockedDrain}
		e := s.runOnce()
		e.outcome(runbook.Failed, "timed out")
		e.noRequest("DELETE", "/agentPools/system")
		for _, node := range s.world.Snapshot().Nodes {
			if node.Unschedulable {
				t.Errorf("node %s is left cordoned", node.Name)
			}
		}
	})
}

// TestDrainOfAKSThatIsBlockedAsks: pods that came back after the drain are AKS's to evict, and it may be refused.
func TestDrainOfAKSThatIsBlockedAsks(t *testing.T) {
	promise(t, "", func(s *stage) {
		s.after("drain", func() {
			fault, err := s.scenario.ParseFault("test", []byte("pdbBlocks: {app: frontend}"))
			s.must(err)
			s.must(s.world.Inject(fault))
			s.somebody().uncordons("system")
			s.somebody().restarts("shop", "app=frontend")
			time.Sleep(time.Minute)
		})
		e := s.runOnce()
		e.outcome(runbook.NeedsAttention, "PodDrainFailure")
		if e.pool("system").ProvisioningState != "Failed" || !strings.Contains(e.result.Question, "blocked by pdb frontend") {
			t.Errorf("question %q", e.result.Question)
		}
		s.resume(map[string]string{budgetsGuard: "agreed"}).outcome(runbook.Remediated, "")
	})
}

func (o somebody) uncordons(pool string) { o.patchNodes(pool, `{"spec":{"unschedulable":false}}`) }

// restarts deletes pods, which no budget is asked about.
func (o somebody) restarts(namespace, selector string) {
	o.t.Helper()
	pods := o.world.Kubernetes().CoreV1().Pods(namespace)
	list, err := pods.List(context.Background(), metav1.ListOptions{LabelSelector: selector})
	o.must(err)
	for _, pod := range list.Items {
		o.must(pods.Delete(context.Background(), pod.Name, metav1.DeleteOptions{}))
	}
}
