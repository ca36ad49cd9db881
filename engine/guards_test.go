package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

func TestGuardDecides(t *testing.T) {
	no := runbook.No("a wall")
	for name, row := range map[string]struct {
		sees     runbook.Finding
		posture  runbook.Posture
		override bool
		outcome  runbook.Outcome
		reason   string
		acts     bool
	}{
		"does not hold: nothing to do": {sees: no, outcome: runbook.NothingToDo,
			reason: "lamp-in-sight does not hold: a wall"},
		"does not hold, clears by itself": {sees: no.WithOutcome(runbook.Deferred), outcome: runbook.Deferred,
			reason: "lamp-in-sight does not hold: a wall"},
		"unknown, fail-closed: undecided": {sees: runbook.Unknownf("fog"), outcome: runbook.Undecided,
			reason: "lamp-in-sight is unknown: fog"},
		"unknown never ends as its guard would have it": {sees: runbook.Unknownf("fog").WithOutcome(runbook.NothingToDo),
			outcome: runbook.Undecided, reason: "lamp-in-sight is unknown: fog"},
		"unknown, fail-open: the caller goes on": {sees: runbook.Unknownf("fog"), posture: runbook.FailOpen,
			outcome: runbook.NothingToDo, reason: "lamp-in-sight is unknown: fog (fail-open: the caller is not blocked)"},
		"does not hold, fail-open: as always": {sees: no.WithOutcome(runbook.Deferred), posture: runbook.FailOpen,
			outcome: runbook.Deferred, reason: "lamp-in-sight does not hold: a wall"},
		"no answer at all is unknown": {sees: runbook.Finding{}, outcome: runbook.Undecided,
			reason: `lamp-in-sight is unknown: the guard gave no answer ("")`},
		"nor is an answer that there is not": {sees: runbook.Finding{Answer: "perhaps"}, outcome: runbook.Undecided,
			reason: `lamp-in-sight is unknown: the guard gave no answer ("perhaps")`},
		"a guard overrides nothing itself": {sees: runbook.Finding{Answer: runbook.AnswerDoesNotHold, Reason: "a wall",
			Override: "I may"}, outcome: runbook.NothingToDo, reason: "a wall"},
		"does not hold, overridden: acts": {sees: no, override: true, outcome: runbook.Remediated, acts: true},
		"unknown, overridden: acts": {sees: runbook.Unknownf("fog"), override: true,
			outcome: runbook.Remediated, acts: true},
		"a binding finding passes over an override": {sees: no.NotOverridable(), override: true,
			outcome: runbook.NothingToDo},
		"an unknown binding one is undecided though": {sees: runbook.Unknownf("fog").NotOverridable(), override: true,
			outcome: runbook.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.sees = func() runbook.Finding { return row.sees }
			book := b.book()
			book.Posture = row.posture
			options := engine.Options{}
			if row.override {
				options.Overrides = map[string]string{"lamp-in-sight": "I stand beside it"}
			}
			result, err := b.Run(t.Context(), book, options)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, result, row.outcome, row.reason)
			if acted := len(b.calls) > 0; acted != row.acts || result.Open {
				t.Errorf("acted: %v (%v), open: %v", acted, b.calls, result.Open)
			}
			if header := b.record("run-1").Header; header.Posture != row.posture ||
				header.Overrides["lamp-in-sight"] != options.Overrides["lamp-in-sight"] {
				t.Errorf("the record begins with %+v", header)
			}
		})
	}
}

// TestGuardOfTheStartIsNotForgotten: also one that no step names keeps a run from acting.
func TestGuardOfTheStartIsNotForgotten(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Guards = append(book.Guards, answer("nobody-in-bed", runbook.No("he snores")))
	expect(t, b.run(book), runbook.NothingToDo, "nobody-in-bed does not hold: he snores")
	b.expectStory("opened", "evaluated start nothing-to-do", "closed nothing-to-do")
	if len(b.calls) > 0 {
		t.Errorf("changes %v", b.calls)
	}
}

// answer is a guard with one answer.
func answer(name string, finding runbook.Finding) runbook.Guard {
	return runbook.Guard{Name: name, Evaluate: func(context.Context, runbook.Run) runbook.Finding { return finding }}
}

func TestGuardsAreAskedInOrderUntilOneDoesNotPass(t *testing.T) {
	b := newBench(t)
	asked := false
	book := b.book()
	book.Guards = append(book.Guards, answer("second", runbook.No("no")),
		runbook.Guard{Name: "third", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			asked = true
			return runbook.Yes("")
		}})
	result := b.run(book)
	expect(t, result, runbook.NothingToDo, "second does not hold: no")
	if asked {
		t.Error("the third was asked")
	}
	if len(result.Findings) != 2 || result.Findings[0].Guard != "lamp-in-sight" || result.Findings[1].Guard != "second" {
		t.Errorf("the result has %+v", result.Findings)
	}
	entries := b.evaluations("start")
	if len(entries) != 1 || len(entries[0].Findings) != 2 || !slices.Equal(entries[0].Missing, []string{"third"}) {
		t.Errorf("the journal holds %+v", entries)
	}
}

// evaluations are those that a run's record holds for a purpose.
func (b *bench) evaluations(purpose string) (all []journal.Evaluation) {
	b.t.Helper()
	for _, entry := range b.record("run-1").Entries {
		if entry.Kind != journal.Evaluated {
			continue
		}
		if evaluation := decode[journal.Evaluation](b.t, entry.Data); evaluation.For == purpose {
			all = append(all, evaluation)
		}
	}
	return all
}

// TestResultHasTheFindingsOfTheStart: those of later steps are in the journal.
func TestResultHasTheFindingsOfTheStart(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.sees = func() runbook.Finding {
		asked++
		return runbook.Yes("look %d", asked)
	}
	book := b.book()
	book.Guards = append(book.Guards, answer("second", runbook.Yes("")))
	result := b.run(book)
	if len(result.Findings) != 2 || result.Findings[0].Reason != "look 1" {
		t.Errorf("the result has %+v", result.Findings)
	}
}

func TestRunWithoutGuardsJournalsNoEmptyEvaluation(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Guards = nil
	for i := range book.Steps {
		book.Steps[i].Guards, book.Steps[i].Irreversible = nil, false
	}
	b.run(book)
	b.expectStory("opened", "planned", "intent hang-sign", "outcome hang-sign done", "intent switch-off",
		"outcome switch-off done", "evaluated checks", "closed remediated")
}

// TestNothingIsDecidedOnAnOldReading: each question about the world after a change is
// in a round of its own, also in another run of the same engine.
func TestNothingIsDecidedOnAnOldReading(t *testing.T) {
	b := newBench(t)
	var rounds []string
	last := 0
	note := func(what string, run runbook.Run) {
		switch round := run.Round(); {
		case round < last || round == 0:
			t.Errorf("%s in round %d after round %d", what, round, last)
		case round == last:
			rounds[len(rounds)-1] += " and " + what
		default:
			rounds, last = append(rounds, what), round
		}
	}
	book := b.book()
	book.Preflight = []runbook.Step{b.step("tidy", func() bool { return true }, nil)}
	for i, step := range slices.Concat(book.Preflight, book.Steps) {
		observe := step.Observe
		step.Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
			note("observe "+step.Name, run)
			return observe(ctx, run)
		}
		step.Guards = nil
		if i == 0 {
			book.Preflight[0] = step
			continue
		}
		book.Steps[i-1] = step
	}
	book.Guards[0].Evaluate = func(_ context.Context, run runbook.Run) runbook.Finding {
		note("guard", run)
		return runbook.Yes("")
	}
	book.Steps[1].Guards = []string{"lamp-in-sight"}
	book.Checks[0].Evaluate = func(_ context.Context, run runbook.Run) runbook.Finding {
		note("check", run)
		return runbook.Yes("")
	}
	if result, err := b.Plan(t.Context(), book, engine.Options{}); err != nil || result.Plan == nil {
		t.Fatal(err)
	}
	b.run(book)
	want := []string{
		"observe tidy and guard",                      // the plan
		"observe tidy and guard", "observe hang-sign", // the run
		"guard and observe switch-off", "check",
	}
	if !slices.Equal(rounds, want) {
		t.Errorf("the rounds are %q, want %q", rounds, want)
	}
}

// TestObservedAfreshAfterAFailedAttempt: what was read before the attempt says nothing.
func TestObservedAfreshAfterAFailedAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.faults["hang-sign"] = []error{errLost}
		book := b.book()
		var rounds []int
		observe := book.Steps[0].Observe
		book.Steps[0].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
			rounds = append(rounds, run.Round())
			return observe(ctx, run)
		}
		expect(t, b.run(book), runbook.Remediated, "")
		if len(rounds) != 2 || rounds[1] <= rounds[0] {
			t.Errorf("observed in the rounds %v", rounds)
		}
	})
}

// TestPreconditionAndCheckAreNotOverridden, not even one that has the name of another
// guard's override.
func TestPreconditionAndCheckAreNotOverridden(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*runbook.Runbook, runbook.Guard)
		ends   runbook.Outcome
		calls  int
	}{
		"precondition": {ends: runbook.NothingToDo, change: func(r *runbook.Runbook, deaf runbook.Guard) {
			r.Steps[0].Guards, r.Steps[0].Preconditions = nil, []runbook.Guard{deaf}
		}},
		"check": {ends: runbook.NeedsAttention, calls: 2, change: func(r *runbook.Runbook, deaf runbook.Guard) {
			r.Checks = append(r.Checks, deaf)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				row.change(&book, answer("lamp-in-sight", runbook.No("the owner objects")))
				result, err := b.Run(t.Context(), book,
					engine.Options{Overrides: map[string]string{"lamp-in-sight": "I stand beside it"}})
				if err != nil {
					t.Fatal(err)
				}
				expect(t, result, row.ends, "the owner objects")
				if len(b.calls) != row.calls {
					t.Errorf("changes %v", b.calls)
				}
			})
		})
	}
}

// TestOverrideOfAResumeCounts from then on, and is in the record.
func TestOverrideOfAResumeCounts(t *testing.T) {
	b := newBench(t)
	b.run(b.stuck())
	b.sees = func() runbook.Finding { return runbook.No("fog") }
	result, err := b.Resume(t.Context(), b.book(), "run-1",
		engine.Options{Overrides: map[string]string{"lamp-in-sight": "I stand beside it"}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, result, runbook.Remediated, "")
	if reason := b.record("run-1").Header.Overrides["lamp-in-sight"]; reason != "I stand beside it" {
		t.Errorf("the record's override is %q", reason)
	}
}

func TestStaleGuardsAreAskedAgainAndThenUnknown(t *testing.T) {
	for name, row := range map[string]struct {
		slow  int // how many answers before the first step take too long
		ends  runbook.Outcome
		asked int
	}{
		"an answer that grew old is asked for again": {slow: 2, ends: runbook.Remediated, asked: 5},
		"three times at most":                        {slow: 3, ends: runbook.Undecided, asked: 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.sees = func() runbook.Finding {
					if asked := len(b.asked); asked > 1 && asked <= 1+row.slow {
						time.Sleep(time.Minute + time.Second)
					}
					return runbook.Yes("slowly seen")
				}
				result := b.run(b.book())
				expect(t, result, row.ends, "")
				asked := slices.DeleteFunc(slices.Clone(b.asked), func(name string) bool { return name != "lamp-in-sight" })
				if len(asked) != row.asked {
					t.Errorf("asked %d times, want %d", len(asked), row.asked)
				}
				if row.ends == runbook.Undecided && !strings.Contains(result.Reason,
					"freshness is unknown: evidence is stale: asking the guards took more than 1m0s, 3 times") {
					t.Errorf("the reason is %q", result.Reason)
				}
			})
		})
	}
}

func TestGuardHasSixMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Guards[0].Evaluate = func(ctx context.Context, _ runbook.Run) runbook.Finding {
			<-ctx.Done()
			return runbook.Unknown(context.Cause(ctx))
		}
		began := time.Now()
		expect(t, b.run(book), runbook.Undecided,
			"lamp-in-sight is unknown: timed out: no answer within 6m0s: context deadline exceeded")
		if took := time.Since(began); took != 6*time.Minute {
			t.Errorf("took %s", took)
		}
	})
}

func TestGuardsOnResumeAreAskedAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"] = []error{errStuck}
		allowed, asked := true, 0
		book := s.book(1, s.step("floor"), s.step("roof", "floor"))
		book.Guards = []runbook.Guard{
			{Name: "permission", OnResume: true, Evaluate: func(context.Context, runbook.Run) runbook.Finding {
				asked++
				if !allowed {
					return runbook.No("the permission was withdrawn").WithOutcome(runbook.Failed)
				}
				return runbook.Yes("granted")
			}},
			{Name: "once", Evaluate: func(_ context.Context, run runbook.Run) runbook.Finding {
				if run.Step("floor").Attempts > 0 {
					t.Error("a guard of the start was asked again")
				}
				return runbook.Yes("so")
			}},
		}
		expect(t, b.run(book), runbook.Failed, "stuck")
		allowed = false
		result := b.run(book)
		expect(t, result, runbook.Failed, "withdrawn")
		if !result.Open || asked != 2 || s.done["roof"] > 0 {
			t.Errorf("open %v, asked %d times, built %v", result.Open, asked, s.done)
		}
		allowed = true
		expect(t, b.run(book), runbook.RolledOut, "")
	})
}

// TestAnswerOfAGuardWhoseTimeIsOverIsNone: it may say that something is not so because it was cut off, or that it is.
func TestAnswerOfAGuardWhoseTimeIsOverIsNone(t *testing.T) {
	for name, late := range map[string]runbook.Finding{
		"holds": runbook.Yes("there it is"), "does not hold": runbook.No("context canceled").NotOverridable(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				book.Guards[0].Evaluate = func(ctx context.Context, _ runbook.Run) runbook.Finding {
					<-ctx.Done()
					return late
				}
				expect(t, b.run(book), runbook.Undecided, "lamp-in-sight is unknown: timed out: no answer within 6m0s: ")
				if len(b.calls) > 0 {
					t.Errorf("changes %v", b.calls)
				}
			})
		})
	}
}

// TestGuardThatTheBudgetCutOffDecidesNothing: a run whose time is over has failed, whatever a guard says that it ended.
func TestGuardThatTheBudgetCutOffDecidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Budget = time.Minute
		book.Guards[0].Evaluate = func(ctx context.Context, _ runbook.Run) runbook.Finding {
			<-ctx.Done()
			return runbook.No("context canceled")
		}
		expect(t, b.run(book), runbook.Failed, "timed out: the run's budget of 1m0s is over")
	})
}
