package recreatepool_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
)

// Each test is named after a promise: of README ("What it will never do"), of the
// design's laws, or of a step's preconditions. Its hazard comes at the worst moment,
// and it fails when the precondition or guard is taken out.

// promise tells a story of the wedged pool "system" on virtual time.
func promise(t *testing.T, more string, story func(s *stage)) {
	t.Helper()
	scenario := wedgedBut(t, more)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, scenario, journal.NewFile(t.TempDir()))
		defer s.world.Close()
		story(s)
	})
}

func TestDrainDoesNotBeginWithoutServingStandIn(t *testing.T) {
	promise(t, "", func(s *stage) {
		s.after("add-stand-in", func() { s.somebody().cordons(s.standIn()) })
		e := s.runOnce()
		e.outcome(runbook.Failed, "stand-in-ready")
		for _, call := range s.world.Calls() {
			if call.Verb == "patch" && strings.HasPrefix(call.Resource, "nodes/aks-system") {
				t.Errorf("%s was cordoned", call.Resource)
			}
		}
	})
}

func TestDrainStopsWhenStandInStopsServing(t *testing.T) {
	// The budget opens at 4m: what is not evicted by then would be evicted after it.
	promise(t, "faults: [{pdbBlocks: {app: frontend, until: 4m}}, {pdbBlocks: {app: coredns, until: 4m}}]\n",
		func(s *stage) {
			var started atomic.Bool
			var stopped time.Time
			s.world.Intercept(func(call azuresim.Call) azuresim.Verdict {
				if strings.HasPrefix(call.Resource, "pods/eviction") && started.CompareAndSwap(false, true) {
					stopped = time.Now()
					s.somebody().cordons(s.standIn())
				}
				return azuresim.Proceed
			})
			e := s.runOnce()
			e.outcome(runbook.Failed, "stand-in-ready")
			for _, call := range s.world.Calls() {
				if strings.HasPrefix(call.Resource, "pods/eviction") && call.At.Sub(stopped) > 20*time.Second && onSource(s, call) {
					t.Errorf("%s was requested %s after the stand-in stopped serving", call.Resource, call.At.Sub(stopped))
				}
			}
			for _, node := range s.world.Snapshot().Nodes {
				if node.Pool == "system" && node.Unschedulable {
					t.Errorf("node %s is left cordoned", node.Name)
				}
			}
		})
}

// onSource tells whether an eviction came before the stand-in itself was emptied.
func onSource(s *stage, call azuresim.Call) bool {
	for _, event := range s.events {
		if event.Kind == engine.RollbackBegan {
			return call.At.Before(event.At)
		}
	}
	return true
}

func TestPoolIsNotDeletedWhileStandInDoesNotServe(t *testing.T) {
	for name, hazard := range map[string]func(s *stage){
		"its nodes are cordoned":     func(s *stage) { s.somebody().cordons(s.standIn()) },
		"its nodes lost their label": func(s *stage) { s.somebody().unlabels(s.standIn()) },
		"somebody deleted it":        func(s *stage) { s.somebody().deletes(s.standIn()) },
	} {
		t.Run(name, func(t *testing.T) {
			promise(t, "", func(s *stage) {
				was, _ := poolOf(s.world.Snapshot(), "system")
				s.after("drain", func() { hazard(s) })
				e := s.runOnce()
				e.outcome(runbook.Failed, "stand-in-ready")
				e.noRequest("DELETE", "/agentPools/system")
				if e.pool("system").ScaleSet != was.ScaleSet {
					t.Error("the pool is another one")
				}
			})
		})
	}
}

func TestStandInIsNotRetiredBeforeNewNodesAreReady(t *testing.T) {
	for name, hazard := range map[string]func(o somebody){
		"they are cordoned":                     func(o somebody) { o.cordons("system") },
		"they lost their label":                 func(o somebody) { o.unlabels("system") },
		"nodes of another pool got their label": func(o somebody) { o.replaces("system") },
	} {
		t.Run(name, func(t *testing.T) {
			promise(t, "", func(s *stage) {
				var standIn string
				s.after("recreate", func() {
					standIn = s.standIn()
					hazard(s.somebody())
				})
				e := s.runOnce()
				e.outcome(runbook.NeedsAttention, "nodes-ready")
				e.noRequest("DELETE", "/agentPools/"+standIn)
				if e.result.Question == "" || !e.result.Open {
					t.Errorf("no question: %+v", e.result)
				}
			})
		})
	}
}

func TestNothingIsTakenBackWhilePoolIsAbsentWithoutIntent(t *testing.T) {
	for _, step := range []string{"add-stand-in", "drain"} {
		t.Run("after "+step, func(t *testing.T) {
			promise(t, "", func(s *stage) {
				var standIn string
				s.after(step, func() {
					standIn = s.standIn()
					// Not for lack of a system pool that serves: there is another one.
					s.somebody().makes("spare", "system", nil)
					s.somebody().deletes("system")
				})
				e := s.runOnce()
				e.outcome(runbook.NeedsAttention, `source-present does not hold: pool "system" not found`)
				e.noRequest("DELETE", "/agentPools/"+standIn)
				e.pool(standIn)
				if e.result.Question == "" || !e.result.Open {
					t.Errorf("no question: %+v", e.result)
				}
			})
		})
	}
}

func TestStandInIsNotRetiredWhilePoolIsAbsent(t *testing.T) {
	promise(t, "", func(s *stage) {
		var standIn string
		s.after("recreate", func() {
			standIn = s.standIn()
			s.somebody().deletes("system")
		})
		e := s.runOnce()
		e.outcome(runbook.NeedsAttention, `pool "system" not found`)
		e.noRequest("DELETE", "/agentPools/"+standIn)
		e.pool(standIn)
	})
}

func TestStrangersPoolIsNeverRemoved(t *testing.T) {
	theirs := map[string]any{"owner": "somebody-else"}
	replaced := func(s *stage) {
		name, o := s.standIn(), s.somebody()
		o.deletes(name)
		o.makes(name, "workers", theirs)
	}
	for name, row := range map[string]struct {
		at     string
		reason string
	}{
		"it is there at the start":          {"", "leftovers-known"},
		"it comes before the stand-in":      {"snapshot", "leftovers-known"},
		"it replaces the stand-in early":    {"add-stand-in", ""},
		"it replaces the drained one's":     {"drain", ""},
		"it replaces one that is to go":     {"recreate", ""},
		"it comes when the retiring begins": {"retiring", ""},
	} {
		t.Run(name, func(t *testing.T) {
			promise(t, "", func(s *stage) {
				switch row.at {
				case "":
					s.somebody().makes(standInOf(s), "workers", theirs)
				case "snapshot":
					s.after(row.at, func() { s.somebody().makes(standInOf(s), "workers", theirs) })
				case "retiring":
					s.when(func(e engine.Event) bool { return e.Kind == engine.StepBegan && e.Step == "retire-stand-in" },
						func() { replaced(s) })
				default:
					s.after(row.at, func() { replaced(s) })
				}
				e := s.runOnce()
				e.outcome(runbook.NeedsAttention, row.reason)
				if pool := e.pool(standInOf(s)); pool.Tags["owner"] != "somebody-else" {
					t.Errorf("the stranger's pool is %+v", pool)
				}
				e.noRequest("DELETE", "/agentPools/"+standInOf(s))
			})
		})
	}
}

// standInOf is the name that the stand-in of pool system has.
func standInOf(s *stage) string { return s.plannedStandIn("system") }

func TestEmptyNodeListIsNotADrainedPool(t *testing.T) {
	for name, hazard := range map[string]func(s *stage){
		"all labels are gone": func(s *stage) { s.somebody().unlabels("system") },
	} {
		for _, step := range []string{"snapshot", "add-stand-in"} {
			t.Run(name+" after "+step, func(t *testing.T) {
				promise(t, "", func(s *stage) {
					s.after(step, func() { hazard(s) })
					e := s.runOnce()
					if e.result.Outcome == runbook.Remediated || e.result.Outcome == runbook.NothingToDo {
						t.Errorf("ended %s: %s", e.result.Outcome, e.result.Reason)
					}
					e.noRequest("DELETE", "/agentPools/system")
					e.pool("system")
				})
			})
		}
	}
}

func TestUnlabelledNodesAreNotReadyNodes(t *testing.T) {
	promise(t, "", func(s *stage) {
		s.after("retire-stand-in", func() { s.somebody().unlabels("system") })
		e := s.runOnce()
		e.outcome(runbook.NeedsAttention, "nodes-ready")
	})
}

func TestChangedPoolIsNotDeleted(t *testing.T) {
	promise(t, "", func(s *stage) {
		s.after("drain", func() { s.somebody().tags("system", map[string]any{"owner": "somebody-else"}) })
		e := s.runOnce()
		e.outcome(runbook.Failed, "snapshot-kept does not hold: somebody changed pool")
		e.noRequest("DELETE", "/agentPools/system")
	})
}

func TestNobodysCordonIsTakenBack(t *testing.T) {
	promise(t, "", func(s *stage) {
		var theirs string
		s.after("add-stand-in", func() {
			for _, node := range s.world.Snapshot().Nodes {
				if node.Pool == "system" {
					theirs = node.Name
				}
			}
			s.somebody().patchNode(theirs, `{"spec":{"unschedulable":true}}`)
		})
		s.after("drain", func() { s.somebody().cordons(s.standIn()) })
		e := s.runOnce()
		e.outcome(runbook.Failed, "stand-in-ready")
		for _, node := range s.world.Snapshot().Nodes {
			if node.Pool == "system" && node.Unschedulable != (node.Name == theirs) {
				t.Errorf("node %s: cordoned %v", node.Name, node.Unschedulable)
			}
		}
	})
}

func TestChecksAndPreconditionsAreNotOverridable(t *testing.T) {
	promise(t, "", func(s *stage) {
		defer s.replay()
		book := s.runbooks()[0]
		fixed := book.Checks
		for _, step := range append(book.Steps, book.Preflight...) {
			fixed = append(fixed, step.Preconditions...)
		}
		for _, guard := range fixed {
			overrides := map[string]string{guard.Name: "I know better"}
			_, err := s.engine().Run(context.Background(), book, engine.Options{Overrides: overrides})
			var invalid *engine.InvalidError
			if !errors.As(err, &invalid) {
				t.Errorf("%s was overridden: %v", guard.Name, err)
			}
		}
	})
}

func TestUnknownNeverActs(t *testing.T) {
	for name, fault := range map[string]string{
		"the Activity Log is refused":     `faults: [{deny: {match: {path: "*/eventtypes/*"}}}]` + "\n",
		"the pool's scale set is refused": `faults: [{deny: {match: {path: "*/virtualMachineScaleSets"}}}]` + "\n",
		"the cluster is refused":          `faults: [{deny: {match: {path: "*/managedClusters/aks-1"}}}]` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			promise(t, fault, func(s *stage) {
				e := s.runOnce()
				e.outcome(runbook.Undecided, "")
				for _, call := range s.world.Calls() {
					if call.Mutating {
						t.Errorf("%s %s", call.Verb, call.Resource)
					}
				}
			})
		})
	}
}

func TestLivingRunsStandInIsNeverRemoved(t *testing.T) {
	promise(t, "", func(s *stage) {
		// Another run, with a journal of its own, has added its stand-in and lives.
		s.somebody().makes(standInOf(s), "workers", map[string]any{
			"purpose": "salve-stand-in", "salve-run": "theirs", "salve-source": s.runbooks()[0].Target.ID,
		})
		s.open = "theirs"
		e := s.runOnce()
		e.outcome(runbook.NeedsAttention, "run theirs is open on this target")
		e.noRequest("DELETE", "/agentPools/"+standInOf(s))
		e.pool(standInOf(s))
	})
}

func TestStandInIsNotDeletedWhenNewNodesStopServing(t *testing.T) {
	promise(t, "", func(s *stage) {
		var retiring atomic.Bool
		standIn := ""
		s.when(func(e engine.Event) bool { return e.Kind == engine.StepBegan && e.Step == "retire-stand-in" }, func() {
			standIn = s.standIn()
			retiring.Store(true)
		})
		s.world.Intercept(func(call azuresim.Call) azuresim.Verdict {
			first := func() bool { return retiring.CompareAndSwap(true, false) }
			if call.Verb == "patch" && retiring.Load() && strings.HasPrefix(call.Resource, "nodes/aks-"+standIn) && first() {
				s.somebody().cordons("system")
			}
			return azuresim.Proceed
		})
		e := s.runOnce()
		e.outcome(runbook.NeedsAttention, "nodes-ready")
		e.noRequest("DELETE", "/agentPools/"+standIn)
		e.pool(standIn)
	})
}

func TestCordonsAreNotForgottenWhenLabelsAreGone(t *testing.T) {
	promise(t, "", func(s *stage) {
		s.after("drain", func() {
			s.somebody().unlabels("system")
			s.somebody().cordons(s.standIn())
		})
		e := s.runOnce()
		e.outcome(runbook.NeedsAttention, "unknown nodes")
		if !e.result.Open || e.result.Question == "" {
			t.Errorf("closed with cordons left: %+v", e.result)
		}
	})
}

func TestYoungOperationOfThePoolIsNotFought(t *testing.T) {
	promise(t, "", func(s *stage) {
		s.after("settle-cluster", func() { s.somebody().starts("system", map[string]any{"owner": "somebody-else"}) })
		e := s.runOnce()
		e.outcome(runbook.Undecided, "pool-at-rest")
		for _, verb := range []string{"PUT", "DELETE", "POST"} {
			e.noRequest(verb, "")
		}
	})
}
