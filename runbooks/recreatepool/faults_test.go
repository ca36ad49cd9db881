package recreatepool_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
)

// wedgedBut is the scenario wedged with more YAML.
func wedgedBut(t *testing.T, more string) azuresim.Scenario {
	t.Helper()
	scenario, err := azuresim.Parse("faults", []byte(`
shows: faults
expect: remediated
inputs: {pool: system}
clusterState: Failed
pools:
  - {name: system, mode: System, count: 3, state: Failed, corrupted: true, failedWrites: {events: 18, every: 45s, last: 90s}}
  - {name: workers, count: 2}
`+more))
	if err != nil {
		t.Fatal(err)
	}
	return scenario
}

// TestFaultsWhileWaiting: the change was accepted, and then the answers to our
// questions go wrong. No run may forget that it deleted the pool.
func TestFaultsWhileWaiting(t *testing.T) {
	fault := func(format string, args ...any) string { return "faults: [" + fmt.Sprintf(format, args...) + "]\n" }
	const serverError = "{serverError: {match: {%s}, first: 10000, status: 503}}"
	for name, more := range map[string]string{
		"the deletion takes longer than its step": "durations: {delete: 28m}\n",
		"operations can't be read for a while": fault(
			"{deny: {match: {method: GET, path: '*/locations/*', after: 2m, until: 4m}}}"),
		"the deletion's answer is lost and reads are throttled": `faults:
  - lostResponse: {match: {method: DELETE, path: "*agentpools/system"}}
  - throttle: {match: {method: GET, path: "*agentpools/system", after: 2m57s}, first: 8, retryAfter: 20s}
`,
		"everything stumbles during the deletion":   fault(serverError, "method: GET, after: 3m, until: 6m"),
		"the cluster's API is out during the drain": fault(serverError, "api: kubernetes, after: 2m30s, until: 3m30s"),
	} {
		t.Run(name, func(t *testing.T) {
			scenario := wedgedBut(t, more)
			synctest.Test(t, func(t *testing.T) {
				s := tell(t, scenario, t.TempDir())
				defer s.world.Close()
				result := s.finish(t)
				if result.Outcome != runbook.Remediated {
					t.Errorf("ended %s: %s", result.Outcome, result.Reason)
				}
				s.watchman.settled(t, result, s.start, s.remediated())
				if t.Failed() {
					t.Log(s.transcript())
				}
			})
		})
	}
}

// TestAChangeBetweenJudgementAndDeletionIsNotDeleted: somebody updates the pool
// in the moment before the DELETE arrives.
func TestAChangeBetweenJudgementAndDeletionIsNotDeleted(t *testing.T) {
	scenario := wedgedBut(t, "")
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, scenario, journal.NewFile(t.TempDir()))
		defer s.world.Close()
		intruded := false
		s.world.Intercept(func(call azuresim.Call) azuresim.Verdict {
			if call.Verb == "DELETE" && strings.HasSuffix(strings.ToLower(call.Resource), "/agentpools/system") && !intruded {
				intruded = true
				s.somebody().tags("system", map[string]any{"owner": "somebody-else"})
			}
			return azuresim.Proceed
		})
		result, err := s.run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if result.Outcome != runbook.Failed || !strings.Contains(result.Reason, "somebody changed pool") {
			t.Errorf("ended %s: %s", result.Outcome, result.Reason)
		}
		for _, pool := range s.world.Snapshot().Pools {
			if pool.Name == "system" && pool.Tags["owner"] != "somebody-else" {
				t.Error("somebody's change is gone")
			}
		}
	})
}

// TestRefusedDeletionAndThenRecovered: AKS refuses the DELETE, and the pool then
// recovers by itself. Nothing happened, so everything is taken back.
func TestRefusedDeletionAndThenRecovered(t *testing.T) {
	scenario := wedgedBut(t, `faults:
  - deny: {match: {method: DELETE, path: "*agentpools/system"}}
  - recovers: {pool: system, at: 4m}
`)
	synctest.Test(t, func(t *testing.T) {
		s := tell(t, scenario, t.TempDir())
		defer s.world.Close()
		result, err := s.process(0, before)
		if err != nil {
			t.Fatal(err)
		}
		if result.Outcome != runbook.NothingToDo || result.Open {
			t.Errorf("ended %s, open %v: %s", result.Outcome, result.Open, result.Reason)
		}
		s.watchman.settled(t, result, s.start, nil)
	})
}

// TestOverrideOfAGuard: a person who knows better may go on, and it is kept.
func TestOverrideOfAGuard(t *testing.T) {
	scenario := load(t, "rbac-denied")
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, scenario, journal.NewFile(t.TempDir()))
		defer s.world.Close()
		override := func(guard, reason string) (engine.Result, error) {
			overrides := map[string]string{guard: reason}
			defer s.replay()
			return s.engine().Run(context.Background(), s.runbooks()[0], engine.Options{Overrides: overrides})
		}
		for _, guard := range []string{"cluster-exists", "stand-in-ready", "snapshot-kept"} {
			if _, err := override(guard, "x"); err == nil {
				t.Errorf("%s was overridden", guard)
			}
		}
		const reason = "seen in the portal"
		result, err := override("wedge-evidence", reason)
		if err != nil || result.Outcome != runbook.Remediated {
			t.Fatalf("%s: %s, %v", result.Outcome, result.Reason, err)
		}
		for _, finding := range result.Findings {
			kept := finding.Override == reason && finding.Answer == runbook.AnswerUnknown
			if finding.Guard == "wedge-evidence" && !kept {
				t.Errorf("kept as %+v", finding)
			}
		}
	})
}
