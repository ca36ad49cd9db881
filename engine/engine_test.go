package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// lamp is the smallest world: a lamp that a runbook switches off, and a sign that
// it hangs out first and takes in again at the end.
type lamp struct {
	on, sign bool
	// trouble answers for the next calls of a name, in order.
	trouble map[string][]error
	calls   []string
	// sees is what the guard answers; Holds when nil.
	sees func() runbook.Finding
}

func newLamp() *lamp { return &lamp{on: true, trouble: map[string][]error{}} }

// call is one change: it takes a permit, as every change does.
func (l *lamp) call(ctx context.Context, name string, change func()) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	l.calls = append(l.calls, name)
	var err error
	if pending := l.trouble[name]; len(pending) > 0 {
		err, l.trouble[name] = pending[0], pending[1:]
	}
	if err == nil || errors.Is(err, errLost) {
		change()
	}
	return err
}

// errLost is an answer that was lost after the change happened.
var errLost = apierr.New(apierr.Transient, "connection reset")

func (l *lamp) step(name string, done func() bool, change func()) runbook.Step {
	return runbook.Step{
		Name: name, Guards: []string{"lamp-in-sight"},
		Observe: func(context.Context, runbook.Run) runbook.Observation {
			if done() {
				return runbook.Done("already so")
			}
			return runbook.NotStarted("not yet")
		},
		Apply: func(ctx context.Context, _ runbook.Run) error {
			return l.call(ctx, name, change)
		},
	}
}

func (l *lamp) book() runbook.Runbook {
	inSight := runbook.Guard{Name: "lamp-in-sight", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
		if l.sees != nil {
			return l.sees()
		}
		return runbook.Yes("there it is")
	}}
	hang := l.step("hang-sign", func() bool { return l.sign }, func() { l.sign = true })
	takeIn := l.step("take-sign-in", func() bool { return !l.sign }, func() { l.sign = false })
	takeIn.Guards = nil
	hang.Rollback = &takeIn
	off := l.step("switch-off", func() bool { return !l.on }, func() { l.on = false })
	off.Irreversible = true
	return runbook.Runbook{
		Name: "lamp-off", Version: "1", Budget: time.Hour,
		Remaining: func(func(string) bool) string { return "the sign stays out" },
		Target:    runbook.Target{Kind: "lamp", ID: "lamp/1", Name: "lamp 1"},
		Guards:    []runbook.Guard{inSight}, Steps: []runbook.Step{hang, off},
		Checks: []runbook.Guard{{Name: "dark", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			if l.on {
				return runbook.No("it shines")
			}
			return runbook.Yes("it is dark")
		}}},
	}
}

type bench struct {
	*lamp
	*engine.Engine
	t testing.TB
}

func newBench(t testing.TB) *bench {
	runs := 0
	return &bench{lamp: newLamp(), t: t, Engine: &engine.Engine{
		Journal: journal.NewMemory(), Clock: clock.RealClock{},
		NewRun: func(time.Time) string { runs++; return fmt.Sprintf("run-%d", runs) },
	}}
}

func (b *bench) run(book runbook.Runbook) engine.Result {
	b.t.Helper()
	result, err := b.Run(context.Background(), book, engine.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *bench) record(run string) *journal.Record {
	b.t.Helper()
	record, err := journal.Load(context.Background(), b.Journal, run)
	if err != nil {
		b.t.Fatal(err)
	}
	return record
}

func expect(t testing.TB, result engine.Result, outcome runbook.Outcome, reason string) {
	t.Helper()
	if result.Outcome != outcome || !strings.Contains(result.Reason, reason) {
		t.Errorf("ended %s (%s), want %s with %q", result.Outcome, result.Reason, outcome, reason)
	}
}

func TestRunActsAndChecks(t *testing.T) {
	b := newBench(t)
	expect(t, b.run(b.book()), runbook.Remediated, "all final checks hold")
	if want := []string{"hang-sign", "switch-off"}; !slices.Equal(b.calls, want) {
		t.Errorf("changes %v, want %v", b.calls, want)
	}
}

func TestGuardDecides(t *testing.T) {
	no := runbook.No("a wall")
	for name, row := range map[string]struct {
		sees     runbook.Finding
		posture  runbook.Posture
		override bool
		outcome  runbook.Outcome
		acts     bool
	}{
		"does not hold: nothing to do":    {sees: no, outcome: runbook.NothingToDo},
		"does not hold, clears by itself": {sees: no.WithOutcome(runbook.Deferred), outcome: runbook.Deferred},
		"unknown, fail-closed: undecided": {sees: runbook.Unknownf("fog"), outcome: runbook.Undecided},
		"unknown, fail-open: the caller goes on": {sees: runbook.Unknownf("fog"), posture: runbook.FailOpen,
			outcome: runbook.NothingToDo},
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
			result, err := b.Run(context.Background(), book, options)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, result, row.outcome, "")
			if acted := len(b.calls) > 0; acted != row.acts {
				t.Errorf("acted: %v (%v)", acted, b.calls)
			}
		})
	}
}

func TestWrongUsageChangesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		spoil   func(*runbook.Runbook)
		options engine.Options
		want    string
	}{
		"override of an unknown guard": {options: engine.Options{Overrides: map[string]string{"moon": "why not"}},
			want: `no guard "moon"`},
		"override without a reason": {options: engine.Options{Overrides: map[string]string{"lamp-in-sight": ""}},
			want: "requires a reason"},
		"override of a binding guard": {spoil: func(b *runbook.Runbook) { b.Guards[0].NotOverridable = true },
			options: engine.Options{Overrides: map[string]string{"lamp-in-sight": "x"}}, want: "can't be overridden"},
		"a step names an unknown guard": {spoil: func(b *runbook.Runbook) { b.Steps[0].Guards = []string{"moon"} },
			want: `requires guard "moon"`},
		"two steps of the same name": {spoil: func(b *runbook.Runbook) { b.Steps[0].Name = b.Steps[1].Name },
			want: "duplicate"},
		"a step that can't be observed": {spoil: func(b *runbook.Runbook) { b.Steps[0].Observe = nil },
			want: "requires Observe and Apply"},
		"a target without an identity": {spoil: func(b *runbook.Runbook) { b.Target.ID = "" }, want: "target ID"},
		"two guards of the same name": {spoil: func(b *runbook.Runbook) { b.Guards = append(b.Guards, b.Guards[0]) },
			want: "duplicate"},
		"an undo that can't be observed": {spoil: func(b *runbook.Runbook) { b.Steps[0].Rollback.Observe = nil },
			want: "requires Observe and Apply"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			book := b.book()
			if row.spoil != nil {
				row.spoil(&book)
			}
			_, err := b.Run(context.Background(), book, row.options)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if runs, _ := b.Journal.Runs(context.Background()); len(b.calls)+len(runs) > 0 {
				t.Errorf("left %v and runs %v", b.calls, runs)
			}
		})
	}
}

func TestTroubleWithAChange(t *testing.T) {
	for name, row := range map[string]struct {
		trouble map[string][]error
		outcome runbook.Outcome
		reason  string
		calls   []string
	}{
		"an answer lost after the change is not followed by another change": {
			trouble: map[string][]error{"hang-sign": {errLost}},
			outcome: runbook.Remediated, calls: []string{"hang-sign", "switch-off"}},
		"a change that is seen not to have happened is made again": {
			trouble: map[string][]error{"hang-sign": {apierr.New(apierr.Transient, "503")}},
			outcome: runbook.Remediated, calls: []string{"hang-sign", "hang-sign", "switch-off"}},
		"throttled and in conflict: again, after a pause": {
			trouble: map[string][]error{"hang-sign": {apierr.New(apierr.Throttled, "429"), apierr.New(apierr.Conflict, "409")}},
			outcome: runbook.Remediated, calls: []string{"hang-sign", "hang-sign", "hang-sign", "switch-off"}},
		"refused for good before the point of no return: undone": {
			trouble: map[string][]error{"hang-sign": {apierr.New(apierr.Terminal, "no nail")}},
			outcome: runbook.Failed, reason: "no nail", calls: []string{"hang-sign"}},
		"refused for good at the point of no return: it was not passed, so undone": {
			trouble: map[string][]error{"switch-off": {apierr.New(apierr.Terminal, "stuck")}},
			outcome: runbook.Failed, reason: "stuck", calls: []string{"hang-sign", "switch-off", "take-sign-in"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.trouble = row.trouble
				expect(t, b.run(b.book()), row.outcome, row.reason)
				if !slices.Equal(b.calls, row.calls) {
					t.Errorf("changes %v, want %v", b.calls, row.calls)
				}
			})
		})
	}
}

func TestDenialIsWaitedOutForFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.trouble["hang-sign"] = slices.Repeat([]error{apierr.New(apierr.Denied, "403")}, 100)
		began := time.Now()
		expect(t, b.run(b.book()), runbook.Failed, "403")
		if took := time.Since(began); took < 4*time.Minute || took > 6*time.Minute {
			t.Errorf("gave up after %s", took)
		}
	})
}

func TestFailureIsTakenBack(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.sees = func() runbook.Finding {
		if asked++; asked <= 2 { // at the start and before the first step
			return runbook.Yes("there it is")
		}
		return runbook.No("the lamp went out by itself")
	}
	result := b.run(b.book())
	expect(t, result, runbook.NothingToDo, "went out by itself")
	if b.sign || result.Open {
		t.Errorf("sign out: %v, run open: %v", b.sign, result.Open)
	}
}

func TestUndoThatFailsParksAndIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.trouble["take-sign-in"] = []error{apierr.New(apierr.Terminal, "ladder gone")}
		asked := 0
		b.sees = func() runbook.Finding {
			if asked++; asked <= 2 {
				return runbook.Yes("there it is")
			}
			return runbook.No("not any more").WithOutcome(runbook.Failed)
		}
		result := b.run(b.book())
		expect(t, result, runbook.NeedsAttention, "ladder gone")
		if result.Question == "" || !result.Open {
			t.Errorf("parked without a question, or closed: %+v", result)
		}
		expect(t, b.run(b.book()), runbook.Failed, "not any more")
		if b.sign {
			t.Error("the sign is still out")
		}
	})
}

func TestUndecidableParksWithTheQuestion(t *testing.T) {
	b := newBench(t)
	b.trouble["hang-sign"] = []error{errLost}
	book := b.book()
	observe := book.Steps[0].Observe
	book.Steps[0].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
		if b.sign {
			return runbook.Undecidable("Does the sign hang?", "dusk")
		}
		return observe(ctx, run)
	}
	synctest.Test(t, func(t *testing.T) {
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "dusk")
		if result.Question != "Does the sign hang?" {
			t.Errorf("asked %q", result.Question)
		}
	})
}

func TestInterruptedRunStaysOpenAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ctx, interrupt := context.WithCancelCause(context.Background())
		book := b.book()
		book.Steps[0].Await = func(ctx context.Context, _ runbook.Run) error {
			interrupt(engine.ErrInterrupted)
			<-ctx.Done()
			return context.Cause(ctx)
		}
		result, err := b.Run(ctx, book, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, result, runbook.NeedsAttention, "interrupted")
		if !result.Open || !b.sign {
			t.Errorf("open %v, sign %v: an interrupted run is left where it is", result.Open, b.sign)
		}
		expect(t, b.run(b.book()), runbook.Remediated, "")
		if want := []string{"hang-sign", "switch-off"}; !slices.Equal(b.calls, want) {
			t.Errorf("changes %v, want %v", b.calls, want)
		}
	})
}

func TestBudgetIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Steps[0].Await = func(ctx context.Context, _ runbook.Run) error { <-ctx.Done(); return context.Cause(ctx) }
		expect(t, b.run(book), runbook.Failed, "budget of 1h0m0s is over")
		if b.sign {
			t.Error("the sign was left out")
		}
	})
}

func TestChecksDecideNotExitCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Checks[0].Evaluate = func(context.Context,
			runbook.Run) runbook.Finding {
			return runbook.No("there is still a glow")
		}
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "still a glow")
		if !result.Open {
			t.Error("closed although a check does not hold")
		}
	})
}

func TestStaleGuardsAreAskedAgainAndThenUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.sees = func() runbook.Finding { time.Sleep(2 * time.Minute); return runbook.Yes("slowly seen") }
		expect(t, b.run(b.book()), runbook.Undecided, "stale")
	})
}

func TestAmendTriesOtherInputs(t *testing.T) {
	b := newBench(t)
	b.trouble["hang-sign"] = []error{apierr.New(apierr.Terminal, "too large"),
		apierr.New(apierr.Terminal, "still too large")}
	book := b.book()
	amended := 0
	book.Steps[0].RetryWith = func(context.Context, runbook.Run, error) (bool, error) {
		amended++
		return amended == 1,
			nil
	}
	expect(t, b.run(book), runbook.Failed, "still too large")
	if amended != 2 {
		t.Errorf("asked %d times for other inputs", amended)
	}
}
