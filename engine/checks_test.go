package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// TestChecksDecide, not that every step said that it is done.
func TestChecksDecide(t *testing.T) {
	for name, row := range map[string]struct {
		fails   int // how many rounds of checks fail
		finding runbook.Finding
		ends    runbook.Outcome
		reason  string
		rounds  int
		takes   time.Duration
	}{
		"what was changed may take a moment to be seen": {fails: 3, finding: runbook.No("there is a glow"),
			ends: runbook.Remediated, reason: "all final checks hold", rounds: 4,
			takes: 5*time.Second + 8500*time.Millisecond + 14450*time.Millisecond},
		"a glow that stays is a failed check": {fails: 100, finding: runbook.No("there is a glow"),
			ends: runbook.NeedsAttention, reason: "a final check failed: dark does not hold: there is a glow", rounds: 4,
			takes: 5*time.Second + 8500*time.Millisecond + 14450*time.Millisecond},
		"what can't be seen is no success": {fails: 100, finding: runbook.Unknownf("fog"),
			ends: runbook.NeedsAttention, reason: "a final check failed: dark is unknown: fog", rounds: 4,
			takes: 5*time.Second + 8500*time.Millisecond + 14450*time.Millisecond},
		"a check can't end a run as a guard does": {fails: 100, finding: runbook.No("x").WithOutcome(runbook.NothingToDo),
			ends: runbook.NeedsAttention, reason: "a final check failed: dark does not hold: x", rounds: 4,
			takes: 5*time.Second + 8500*time.Millisecond + 14450*time.Millisecond},
		"holds at once": {ends: runbook.Remediated, reason: "all final checks hold", rounds: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				book.Posture = runbook.FailOpen // which is for guards
				checked := 0
				book.Checks[0].Evaluate = func(context.Context, runbook.Run) runbook.Finding {
					if checked++; checked <= row.fails {
						return row.finding
					}
					return runbook.Yes("it is dark")
				}
				began := time.Now()
				result := b.run(book)
				expect(t, result, row.ends, "")
				if result.Reason != row.reason || checked != row.rounds || time.Since(began) != row.takes {
					t.Errorf("%q, %d rounds in %s", result.Reason, checked, time.Since(began))
				}
				if parked := row.ends == runbook.NeedsAttention; result.Open != parked ||
					(result.Question != "") != parked || !b.sign {
					t.Errorf("sign out: %v, %+v", b.sign, result)
				}
				if rounds := b.evaluations("checks"); len(rounds) != row.rounds || rounds[0].Findings[0].Guard != "dark" {
					t.Errorf("the journal holds %+v", rounds)
				}
			})
		})
	}
}

// TestAllChecksAreAsked: unlike guards, also those after one that fails.
func TestAllChecksAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Checks = []runbook.Guard{answer("dark", runbook.No("a glow")), answer("quiet", runbook.No("a hum")),
			answer("cold", runbook.Yes(""))}
		var told []string
		b.Watch = func(event engine.Event) {
			if event.Kind == engine.Found && event.Step == "checks" {
				told = append(told, event.Finding.Guard)
			}
		}
		b.run(book)
		if want := []string{"dark", "quiet", "cold"}; len(told) != 12 || !slices.Equal(told[:3], want) {
			t.Errorf("told %v", told)
		}
		for _, round := range b.evaluations("checks") {
			if len(round.Findings) != 3 {
				t.Errorf("the journal holds %+v", round)
			}
		}
	})
}

// TestParkedByItsChecksARunChecksAgain, and does nothing else.
func TestParkedByItsChecksARunChecksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		glows := true
		book.Checks[0].Evaluate = func(context.Context, runbook.Run) runbook.Finding {
			if glows {
				return runbook.No("there is a glow")
			}
			return runbook.Yes("it is dark")
		}
		b.run(book)
		glows = false
		did := len(b.calls)
		expect(t, b.run(book), runbook.Remediated, "")
		if len(b.calls) != did {
			t.Errorf("changes %v", b.calls[did:])
		}
	})
}

func TestChecksThatCannotBeRecordedAreNoSuccess(t *testing.T) {
	b := newBench(t)
	b.Engine.Journal = &failing{Store: b.Journal, on: `"for":"checks"`}
	result, err := b.Run(t.Context(), b.book(), engine.Options{})
	if err != nil || result.Outcome != runbook.NeedsAttention || !result.Unrecorded {
		t.Errorf("ended %+v, %v", result, err)
	}
}

func TestSuccessIsNamedByTheRunbook(t *testing.T) {
	for success, want := range map[runbook.Outcome]runbook.Outcome{
		"": runbook.Remediated, runbook.Remediated: runbook.Remediated, runbook.RolledOut: runbook.RolledOut,
	} {
		b := newBench(t)
		book := b.book()
		book.Success = success
		if result := b.run(book); result.Outcome != want || b.record("run-1").Closed.Outcome != want {
			t.Errorf("success %q: ended %s", success, result.Outcome)
		}
	}
}

// TestAPastDecisionCanBeMadeAgain from what the journal holds.
func TestAPastDecisionCanBeMadeAgain(t *testing.T) {
	b := newBench(t)
	b.run(b.book())
	evaluations := 0
	for _, entry := range b.record("run-1").Entries {
		if entry.Kind != journal.Evaluated {
			continue
		}
		evaluations++
		evaluation := decode[journal.Evaluation](t, entry.Data)
		if again := engine.Decide(runbook.FailClosed, evaluation.Findings); again != evaluation.Decision {
			t.Errorf("for %s: decided %+v, now %+v", evaluation.For, evaluation.Decision, again)
		}
	}
	if evaluations != 4 {
		t.Errorf("%d evaluations in the journal", evaluations)
	}
}

// TestWhatALateFailureLeavesIsSaid: past the point of no return nothing is undone, and the
// runbook says what is left standing.
func TestWhatALateFailureLeavesIsSaid(t *testing.T) {
	for name, row := range map[string]struct {
		remaining func(done func(string) bool) string
		want      string
	}{
		"by the runbook": {want: "stopped after the point of no return: step switch-off: stuck; the sign stays out",
			remaining: func(done func(string) bool) string {
				if !done("hang-sign") || done("switch-off") {
					return "it was told wrong what is done"
				}
				return "the sign stays out"
			}},
		"nothing is left": {want: "stopped after the point of no return: step switch-off: stuck", remaining: nothingLeft},
		"nobody says":     {want: "stopped after the point of no return: step switch-off: stuck"},
		"it panics when asked": {remaining: func(func(string) bool) string { panic("no idea") },
			want: "stopped after the point of no return: step switch-off: stuck; " +
				"what is left standing is not known: panic: no idea"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			book := b.stuck()
			book.Remaining = row.remaining
			result := b.run(book)
			if expect(t, result, runbook.NeedsAttention, ""); result.Reason != row.want {
				t.Errorf("the reason is %q, want %q", result.Reason, row.want)
			}
			if !b.sign || !result.Open || result.Question != "Is what stopped it mended? Then resume the run." {
				t.Errorf("sign %v, %+v", b.sign, result)
			}
		})
	}
}

func nothingLeft(func(string) bool) string { return "" }

// TestDecisionAfterTheReturnParksToo: also a guard that does not hold any more.
func TestDecisionAfterTheReturnParksToo(t *testing.T) {
	b := newBench(t)
	book := b.book()
	after := b.step("sweep", func() bool { return false }, func() {})
	after.Preconditions = []runbook.Guard{answer("broom", runbook.No("it is broken").WithOutcome(runbook.Deferred))}
	book.Steps = append(book.Steps, after)
	result := b.run(book)
	expect(t, result, runbook.NeedsAttention, "stopped after the point of no return: broom does not hold: it is broken")
	if !result.Open || !b.sign {
		t.Errorf("open %v, sign %v", result.Open, b.sign)
	}
}

// TestBudgetIsOver whatever its steps do with their context.
func TestBudgetIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Steps[0].Await = func(ctx context.Context, run runbook.Run) error {
			return errors.Join(errStuck, untilItEnds(ctx, run))
		}
		began := time.Now()
		result := b.run(book)
		expect(t, result, runbook.Failed, "timed out: the run's budget of 1h0m0s is over")
		if took := time.Since(began); b.sign || result.Open || took != time.Hour {
			t.Errorf("after %s the sign is out: %v, the run is open: %v", took, b.sign, result.Open)
		}
	})
}
