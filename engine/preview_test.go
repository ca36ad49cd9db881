package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// preview asks for a plan, and fails the test when there is none to be had.
func (b *bench) preview(book runbook.Runbook) engine.Result {
	b.t.Helper()
	result, err := b.Plan(b.t.Context(), book, engine.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// planned are the names of a result's planned steps; nil when it has no plan.
func planned(result engine.Result) (names []string) {
	if result.Plan == nil {
		return nil
	}
	for _, step := range result.Plan.Steps {
		names = append(names, step.Name)
	}
	return names
}

// guards are the names of a result's findings.
func guards(result engine.Result) (names []string) {
	for _, finding := range result.Findings {
		names = append(names, finding.Guard)
	}
	return names
}

// TestPlanAndCheckChangeNothing: neither the world nor the journal, and they need no lease.
func TestPlanAndCheckChangeNothing(t *testing.T) {
	b := newBench(t)
	if _, err := b.Journal.Lock(t.Context(), journal.Claim{Target: "lamp/1"}); err != nil {
		t.Fatal(err)
	}
	plan := b.preview(b.book())
	if want := []string{"hang-sign", "switch-off"}; !slices.Equal(planned(plan), want) ||
		!plan.Plan.Steps[1].Irreversible || plan.Outcome != "" || plan.Run != "" || plan.Open {
		t.Errorf("plan %+v", plan)
	}
	check, err := b.Check(t.Context(), b.book(), engine.Options{})
	if err != nil || check.Plan != nil || check.Outcome != "" || !slices.Equal(guards(check), []string{"lamp-in-sight"}) {
		t.Errorf("check %+v, %v", check, err)
	}
	if runs, err := b.Journal.Runs(t.Context()); err != nil || len(b.calls)+len(runs) > 0 {
		t.Errorf("changes %v, runs %v, %v", b.calls, runs, err)
	}
	if again := b.preview(b.book()); again.Plan.Digest != plan.Plan.Digest {
		t.Errorf("the same world gave digests %s and %s", plan.Plan.Digest, again.Plan.Digest)
	}
	b.sees = func() runbook.Finding {
		return runbook.Yes("there it is").WithEvidence(runbook.Evidence{Source: "eye", Identity: "2"})
	}
	if changed := b.preview(b.book()); changed.Plan.Digest == plan.Plan.Digest {
		t.Error("other evidence gave the same digest")
	}
}

// TestRunHasThePlanThatWasPreviewed: what was shown is what is done.
func TestRunHasThePlanThatWasPreviewed(t *testing.T) {
	b := newBench(t)
	previewed := b.preview(b.book()).Plan
	result := b.run(b.book())
	if recorded := b.record("run-1").Plan; result.Plan.Digest != previewed.Digest || recorded.Digest != previewed.Digest {
		t.Errorf("previewed %+v, planned %+v, recorded %+v", previewed, result.Plan, recorded)
	}
}

func TestPreviewAsksWhatARunWouldAskFirst(t *testing.T) {
	no := runbook.No("no").WithOutcome(runbook.Deferred)
	for name, row := range map[string]struct {
		ladder bool
		change func(b *bench, book *runbook.Runbook)
		ends   runbook.Outcome
		plan   []string
		asked  []string
		found  []string
	}{
		"nothing to tidy": {plan: []string{"hang-sign", "switch-off"},
			asked: []string{"nobody-on-it", "put-ladder-away", "lamp-in-sight"},
			found: []string{"lamp-in-sight", "nobody-on-it"}},
		"something to tidy": {ladder: true, plan: []string{"put-ladder-away", "hang-sign", "switch-off"},
			asked: []string{"nobody-on-it", "put-ladder-away", "lamp-in-sight"},
			found: []string{"lamp-in-sight", "nobody-on-it"}},
		"something to tidy, where nothing else is done": {ladder: true, ends: runbook.Deferred,
			plan:   []string{"put-ladder-away"},
			asked:  []string{"nobody-on-it", "put-ladder-away", "lamp-in-sight"},
			found:  []string{"lamp-in-sight", "nobody-on-it"},
			change: func(b *bench, _ *runbook.Runbook) { b.sees = func() runbook.Finding { return no } }},
		"nothing to tidy, nothing to do": {ends: runbook.Deferred,
			asked:  []string{"nobody-on-it", "put-ladder-away", "lamp-in-sight"},
			found:  []string{"lamp-in-sight", "nobody-on-it"},
			change: func(b *bench, _ *runbook.Runbook) { b.sees = func() runbook.Finding { return no } }},
		"a condition of the preflight does not hold": {ladder: true, ends: runbook.Deferred, found: []string{"nobody-on-it"},
			change: func(_ *bench, book *runbook.Runbook) { book.Preflight[0].Preconditions[0] = answer("nobody-on-it", no) }},
		"a condition of the first step does not hold": {ends: runbook.Deferred,
			asked: []string{"nobody-on-it", "put-ladder-away", "lamp-in-sight"},
			found: []string{"lamp-in-sight", "nobody-on-it", "nail"},
			change: func(_ *bench, book *runbook.Runbook) {
				book.Steps[0].Preconditions = []runbook.Guard{answer("nail", no)}
			}},
		"a condition of a later step is about a later world": {plan: []string{"hang-sign", "switch-off"},
			asked: []string{"nobody-on-it", "put-ladder-away", "lamp-in-sight"},
			found: []string{"lamp-in-sight", "nobody-on-it"},
			change: func(_ *bench, book *runbook.Runbook) {
				book.Steps[1].Preconditions = []runbook.Guard{answer("nail", no)}
			}},
		"guards after one that does not hold": {ends: runbook.Deferred, found: []string{"first", "nobody-on-it"},
			asked: []string{"nobody-on-it", "put-ladder-away"},
			change: func(_ *bench, book *runbook.Runbook) {
				book.Guards = append([]runbook.Guard{answer("first", no)}, book.Guards...)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			ladder := row.ladder
			book := b.untidy(&ladder)
			if row.change != nil {
				row.change(b, &book)
			}
			told := b.watched(engine.Found)
			result := b.preview(book)
			if result.Outcome != row.ends || !slices.Equal(planned(result), row.plan) {
				t.Errorf("ends %q with the plan %v, want %q with %v", result.Outcome, planned(result), row.ends, row.plan)
			}
			if !slices.Equal(b.asked, row.asked) || !slices.Equal(guards(result), row.found) {
				t.Errorf("asked %v, want %v; found %v, want %v", b.asked, row.asked, guards(result), row.found)
			}
			if len(*told) != len(row.found) {
				t.Errorf("told %q of %v", *told, row.found)
			}
			check, err := b.Check(t.Context(), book, engine.Options{})
			if err != nil || check.Plan != nil {
				t.Errorf("check: %+v, %v", check, err)
			}
		})
	}
}

// TestCheckAsksGuardsOnly: what a plan needs besides is not asked.
func TestCheckAsksGuardsOnly(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Steps[0].Preconditions = []runbook.Guard{answer("nail", runbook.No("no"))}
	book.Steps[0].Inputs = func(runbook.Run) (any, error) { return nil, errors.New("no measure") }
	result, err := b.Check(t.Context(), book, engine.Options{})
	if err != nil || result.Outcome != "" || !slices.Equal(guards(result), []string{"lamp-in-sight"}) {
		t.Errorf("check: %+v, %v", result, err)
	}
}

func TestPlanOfAnOpenRunIsWhatIsLeft(t *testing.T) {
	no := func() runbook.Finding { return runbook.No("fog") }
	for name, row := range map[string]struct {
		open  func(b *bench)
		sees  func() runbook.Finding
		book  func(b *bench) runbook.Runbook
		ends  runbook.Outcome
		plan  []string
		found []string
	}{
		"a step that failed": {plan: []string{"switch-off"}, found: []string{"lamp-in-sight"},
			open: func(b *bench) { b.run(b.stuck()) }},
		"a step that failed and whose guards don't hold": {sees: no, ends: runbook.NothingToDo,
			found: []string{"lamp-in-sight"}, open: func(b *bench) { b.run(b.stuck()) }},
		"a step of which nobody knows: it is looked at first, whatever holds": {sees: no, plan: []string{"switch-off"},
			open: func(b *bench) {
				b.interrupted(func(interrupt func()) runbook.Runbook {
					book := b.book()
					book.Steps[1].Await = func(ctx context.Context, run runbook.Run) error {
						interrupt()
						return untilItEnds(ctx, run)
					}
					return book
				})
			}},
		"a step that failed, behind a guard that each resume asks": {sees: no, ends: runbook.NothingToDo,
			found: []string{"lamp-in-sight"}, open: func(b *bench) { b.run(b.stuck()) }, book: func(b *bench) runbook.Runbook {
				book := b.book()
				book.Guards[0].OnResume, book.Steps[1].Guards, book.Steps[1].Irreversible = true, nil, false
				return book
			}},
		"a rollback: it asks nothing": {sees: no, open: func(b *bench) {
			b.faults["switch-off"], b.faults["take-sign-in"] = []error{errStuck}, []error{errStuck}
			b.run(b.book())
		}},
		"nothing but the checks": {open: func(b *bench) {
			book := b.book()
			book.Checks[0] = answer("dark", runbook.No("a glow"))
			b.run(book)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				row.open(b)
				before, did := b.story(), len(b.calls)
				b.sees = row.sees
				book := b.book()
				if row.book != nil {
					book = row.book(b)
				}
				result := b.preview(book)
				if result.Outcome != row.ends || !slices.Equal(planned(result), row.plan) ||
					!slices.Equal(guards(result), row.found) {
					t.Errorf("ends %q with the plan %v and findings %v", result.Outcome, planned(result), guards(result))
				}
				want := "run run-1 is open on this target: a run would go on with it"
				if !slices.Equal(result.Warnings, []string{want}) || result.Run != "" || result.Open {
					t.Errorf("warnings %q, run %q, open %v", result.Warnings, result.Run, result.Open)
				}
				check, err := b.Check(t.Context(), book, engine.Options{})
				if err != nil || check.Plan != nil || check.Outcome != row.ends {
					t.Errorf("check: %+v, %v", check, err)
				}
				b.expectStory(before...)
				if len(b.calls) != did {
					t.Errorf("changes %v", b.calls[did:])
				}
			})
		})
	}
}

// TestPreviewGoesOnFromTheOpenRunsRecord: what its steps noted is there.
func TestPreviewGoesOnFromTheOpenRunsRecord(t *testing.T) {
	b := newBench(t)
	book := b.stuck()
	apply := book.Steps[0].Apply
	book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
		return errors.Join(run.Note(ctx, "nail", 4), apply(ctx, run))
	}
	b.run(book)
	book = b.book()
	book.Steps[1].Inputs = func(run runbook.Run) (any, error) {
		var nail int
		_, err := run.Recall("nail", &nail)
		return nail, err
	}
	if plan := b.preview(book).Plan; plan == nil || string(plan.Steps[0].Inputs) != "4" {
		t.Errorf("the plan is %+v", plan)
	}
}

func TestPreviewThatCannotBeMadeSaysWhy(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(b *bench, book *runbook.Runbook)
		want  string
	}{
		"a lease that can't be read": {want: "no route to the lease", spoil: func(b *bench, _ *runbook.Runbook) {
			b.Engine.Journal = unreadable{b.Journal}
		}},
		"another runbook's run is open": {want: `run "run-1" of runbook "lamp-on" is open on this target`,
			spoil: func(b *bench, _ *runbook.Runbook) {
				other := b.stuck()
				other.Name = "lamp-on"
				b.run(other)
			}},
		"inputs that JSON can't hold": {want: "encoding the inputs of lamp-off",
			spoil: func(_ *bench, book *runbook.Runbook) { book.Inputs = make(chan int) }},
		"a step's inputs that can't be told": {want: `planning step "switch-off": no measure`,
			spoil: func(_ *bench, book *runbook.Runbook) {
				book.Steps[1].Inputs = func(runbook.Run) (any, error) { return nil, errors.New("no measure") }
			}},
		"a step's inputs in panic": {want: "panic: no measure", spoil: func(_ *bench, book *runbook.Runbook) {
			book.Steps[1].Inputs = func(runbook.Run) (any, error) { panic("no measure") }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			book := b.book()
			row.spoil(b, &book)
			result, err := b.Plan(t.Context(), book, engine.Options{})
			if err == nil || !strings.Contains(err.Error(), row.want) || result.Plan != nil {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// unreadable is a store whose leases can't be looked at.
type unreadable struct{ journal.Store }

func (unreadable) Peek(context.Context, string) (journal.Peeked, error) {
	return journal.Peeked{}, errors.New("no route to the lease")
}

// TestPreviewEndsInItsTime: what it could not see by then is unknown, and named; one that
// was interrupted says nothing.
func TestPreviewEndsInItsTime(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(book *runbook.Runbook)
		ends  runbook.Outcome
		says  string
	}{
		"a guard": {ends: runbook.Undecided, says: "lamp-in-sight is unknown: context deadline exceeded",
			spoil: func(book *runbook.Runbook) { book.Guards[0].Evaluate = never }},
		"a condition of the first step": {ends: runbook.Undecided, says: "nail is unknown: context deadline exceeded",
			spoil: func(book *runbook.Runbook) {
				book.Steps[0].Preconditions = []runbook.Guard{{Name: "nail", Evaluate: never}}
			}},
		"a condition of the preflight": {ends: runbook.Undecided, says: "nobody-on-it is unknown: context deadline exceeded",
			spoil: func(book *runbook.Runbook) { book.Preflight[0].Preconditions[0].Evaluate = never }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				ladder := false
				book := b.untidy(&ladder)
				book.Budget = time.Minute
				row.spoil(&book)
				began := time.Now()
				result := b.preview(book)
				expect(t, result, row.ends, row.says)
				if took := time.Since(began); took != time.Minute || result.Plan != nil {
					t.Errorf("took %s, plan %+v", took, result.Plan)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(engine.ErrInterrupted) })
				if result, err := b.Plan(ctx, book, engine.Options{}); !errors.Is(err, engine.ErrInterrupted) {
					t.Errorf("interrupted: %+v, %v", result, err)
				}
			})
		})
	}
}

// never is a guard that sees nothing as long as it may look.
func never(ctx context.Context, _ runbook.Run) runbook.Finding {
	<-ctx.Done()
	return runbook.Unknown(context.Cause(ctx))
}

func TestPreviewInterruptedWhileItLooksSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ladder := true
		book := b.untidy(&ladder)
		book.Preflight[0].Observe = func(ctx context.Context, _ runbook.Run) runbook.Observation {
			<-ctx.Done()
			return runbook.NotObserved(apierr.New(apierr.Transient, "%w", ctx.Err()))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(engine.ErrInterrupted) })
		result, err := b.Plan(ctx, book, engine.Options{})
		if !errors.Is(err, engine.ErrInterrupted) || slices.Contains(b.asked, "lamp-in-sight") {
			t.Errorf("%+v, %v, asked %v", result, err, b.asked)
		}
	})
}

// TestPreviewTakesOverrides as a run does.
func TestPreviewTakesOverrides(t *testing.T) {
	b := newBench(t)
	b.sees = func() runbook.Finding { return runbook.No("fog") }
	result, err := b.Plan(t.Context(), b.book(),
		engine.Options{Overrides: map[string]string{"lamp-in-sight": "I stand beside it"}})
	if err != nil || len(planned(result)) != 2 || result.Findings[0].Override != "I stand beside it" {
		t.Errorf("%+v, %v", result, err)
	}
}
