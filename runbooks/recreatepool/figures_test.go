package recreatepool_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/azuresim"
	"salve/journal"
)

// TestSameStateGivesSameDigest also after time has passed: evidence holds no ages.
func TestSameStateGivesSameDigest(t *testing.T) {
	for _, name := range []string{"wedged", "stuck-operation", "leftover", "two-pools", "rbac-lag"} {
		t.Run(name, func(t *testing.T) {
			scenario := load(t, name)
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, scenario, journal.NewFile(t.TempDir()))
				defer s.world.Close()
				var digests []string
				for range 3 {
					for _, book := range s.runbooks()[:1] {
						result, err := s.engine().Plan(context.Background(), book, s.options())
						s.must(err)
						if result.Plan == nil {
							t.Fatalf("no plan: %s %s", result.Outcome, result.Reason)
						}
						digests = append(digests, result.Plan.Digest)
					}
					time.Sleep(97 * time.Second)
				}
				if len(slices.Compact(digests)) != 1 {
					t.Errorf("the digests are %v", digests)
				}
			})
		})
	}
}

// TestHealthyClusterCostsOneCall to ARM, and one that is absent a second one: that its
// resource group does not list it.
func TestHealthyClusterCostsOneCall(t *testing.T) {
	for name, want := range map[string]int{"healthy": 1, "greenfield": 2} {
		if _, _, calls := recoveryTime(t, load(t, name)); calls != want {
			t.Errorf("%s: %d calls to ARM, want %d", name, calls, want)
		}
	}
}

// TestRecoveryIsAsFastAsItsOperations: at most 5 % above what AKS itself takes.
func TestRecoveryIsAsFastAsItsOperations(t *testing.T) {
	for _, name := range []string{"wedged", "stuck-operation"} {
		took, path, _ := recoveryTime(t, load(t, name))
		if share := took.Seconds() / path.Seconds(); share > 1.05 {
			t.Errorf("%s took %s, %.3f of the critical path", name, took, share)
		}
	}
}

// TestAbsenceNeedsItsParent: a wrong subscription or resource group is not a cluster
// that is absent, and a run of it is never nothing-to-do.
func TestAbsenceNeedsItsParent(t *testing.T) {
	for name, edit := range map[string]func(*azuresim.Scenario){
		"another subscription":   func(s *azuresim.Scenario) { s.Subscription = "5a1e0000-0000-4000-8000-00000000000f" },
		"another resource group": func(s *azuresim.Scenario) { s.ResourceGroup = "elsewhere" },
	} {
		t.Run(name, func(t *testing.T) {
			scenario := load(t, "wedged")
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, scenario, journal.NewFile(t.TempDir()))
				defer s.world.Close()
				edit(&s.scenario)
				e := s.runOnce()
				e.outcome("undecided", "is unknown: reading cluster")
				for _, call := range s.world.Calls() {
					if call.Mutating {
						t.Errorf("%s %s", call.Verb, call.Resource)
					}
				}
			})
		})
	}
}
