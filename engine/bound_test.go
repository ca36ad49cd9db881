package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// sameWhateverItsInputs has the open run resumed with whatever inputs it is asked for, as those of pipelines of the
// same content are.
func sameWhateverItsInputs(plan *engine.ExpectedPlan) engine.Options {
	return engine.Options{Plan: plan, SameRun: func(journal.Header) error { return nil }}
}

// watts is the book of a lamp with an input.
func (b *bench) watts(watts int) runbook.Runbook {
	book := b.book()
	book.Inputs = map[string]int{"watts": watts}
	return book
}

// TestOpenRunKeepsTheInputsOfItsPlan in the middle of it too, where evidence may have moved: those of the plan that is
// asked for, else those of the one that it was started with.
func TestOpenRunKeepsTheInputsOfItsPlan(t *testing.T) {
	const changed = "run run-1 is open on this target, and stays open: the plan has changed: inputs.watts: was 60, now 40"
	for name, row := range map[string]struct {
		bound, again bool
		watts        int
		want         string
	}{
		"the same":                          {bound: true, again: true, watts: 60},
		"others than the plan has":          {bound: true, again: true, watts: 40, want: changed},
		"others than it was started with":   {bound: true, watts: 40, want: changed},
		"the same as it was started with":   {bound: true, watts: 60},
		"any, of a run that is not bound":   {watts: 40},
		"a plan that it was not begun with": {again: true, watts: 40, want: changed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			plan := b.preview(b.watts(60)).Plan
			file := &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}
			started, asked := sameWhateverItsInputs(nil), sameWhateverItsInputs(nil)
			if row.bound {
				started.Plan = file
			}
			if row.again {
				asked.Plan = file
			}
			b.stopped(b.watts(60), 0, started)
			entries := len(b.record("run-1").Entries)
			preview, previewErr := b.Plan(context.Background(), b.watts(row.watts), asked)
			result, err := b.Run(context.Background(), b.watts(row.watts), asked)
			if row.want == "" {
				if err != nil || result.Outcome != runbook.Remediated || previewErr != nil || preview.Plan == nil {
					t.Errorf("%+v, %v; previewed %+v, %v", result, err, preview, previewErr)
				}
				return
			}
			for _, err := range []error{err, previewErr} {
				if invalid := new(*engine.InvalidError); !errors.As(err, invalid) || err.Error() != row.want {
					t.Errorf("got %v", err)
				}
			}
			if !b.sign || !b.on || len(b.record("run-1").Entries) != entries {
				t.Error("something was done, or written")
			}
		})
	}
}

// TestOpenRunGoesOnWithOtherInputsThanItsPlan where that is what was agreed to, or nothing is asked any more.
func TestOpenRunGoesOnWithOtherInputsThanItsPlan(t *testing.T) {
	t.Run("an approval has lowered them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, people, options := gated(t)
			people.answer = saying(func(s *engine.Said) { s.Limits = map[string]int{"watts": 10} })
			options.Plan = &engine.ExpectedPlan{Digest: b.preview(b.limited(60)).Plan.Digest}
			ctx, cancel := context.WithCancelCause(context.Background())
			book := b.limited(60)
			book.Lowered = func(limits map[string]int) (runbook.Runbook, error) {
				lowered := b.limited(limits["watts"])
				lowered.Steps[0].Await = func(context.Context, runbook.Run) error {
					cancel(engine.ErrInterrupted)
					return ctx.Err()
				}
				return recordedBook(lowered), nil
			}
			if result, err := b.Run(ctx, book, options); err != nil || !result.Open {
				t.Fatalf("%+v, %v", result, err)
			}
			people.answer = saying(asIs)
			result, err := b.Resume(context.Background(), b.limited(10), "run-1", engine.Options{})
			if err != nil || result.Outcome != runbook.Remediated {
				t.Errorf("%+v, %v", result, err)
			}
		})
	})
	t.Run("past its point of no return", func(t *testing.T) {
		b := newBench(t)
		plan := b.preview(b.watts(60)).Plan
		bound := sameWhateverItsInputs(&engine.ExpectedPlan{Digest: plan.Digest, Plan: plan})
		b.stopped(b.watts(60), 1, bound)
		if result, err := b.Run(context.Background(), b.watts(40), bound); err != nil ||
			result.Outcome != runbook.Remediated {
			t.Errorf("%+v, %v", result, err)
		}
	})
	t.Run("they are masked in the plan", func(t *testing.T) {
		b := newBench(t)
		secret := func() runbook.Runbook {
			book := b.book()
			book.Inputs = map[string]string{"password": "h1dden-word"}
			return book
		}
		plan := b.preview(secret()).Plan
		bound := sameWhateverItsInputs(&engine.ExpectedPlan{Digest: plan.Digest, Plan: plan})
		b.stopped(secret(), 0, bound)
		if result, err := b.Run(context.Background(), secret(), bound); err != nil ||
			result.Outcome != runbook.Remediated {
			t.Errorf("%+v, %v", result, err)
		}
	})
	t.Run("somebody agreed to the steps alone", func(t *testing.T) {
		b := newBench(t)
		plan := b.preview(b.watts(60)).Plan
		shown := sameWhateverItsInputs(&engine.ExpectedPlan{Digest: plan.Digest, Plan: plan, StepsOnly: true})
		b.stopped(b.watts(60), 0, sameWhateverItsInputs(nil))
		if result, err := b.Run(context.Background(), b.watts(40), shown); err != nil ||
			result.Outcome != runbook.Remediated {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// TestRunBoundToADigestGoesOnWithIt: the same command again resumes it, and the whole plan is in the record.
func TestRunBoundToADigestGoesOnWithIt(t *testing.T) {
	b := newBench(t)
	bound := sameWhateverItsInputs(&engine.ExpectedPlan{Digest: b.preview(b.watts(60)).Plan.Digest})
	b.stopped(b.watts(60), 0, bound)
	if _, err := b.Run(context.Background(), b.watts(40), bound); err == nil ||
		!strings.Contains(err.Error(), "inputs.watts: was 60, now 40") {
		t.Errorf("got %v", err)
	}
	if result, err := b.Run(context.Background(), b.watts(60), bound); err != nil ||
		result.Outcome != runbook.Remediated || result.Run != "run-1" {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestOpenRunIsNotClosedForAPlanThatIsRefused: that is executed or nothing is done, and what is open can be resumed.
func TestOpenRunIsNotClosedForAPlanThatIsRefused(t *testing.T) {
	b := newBench(t)
	b.seesAs("1", "7")
	options := engine.Options{Supersede: func(*journal.History) error { return nil }}
	b.stopped(b.watts(40), 0, options)
	plan, err := b.Plan(context.Background(), b.watts(60), options)
	if err != nil || plan.Plan == nil {
		t.Fatalf("%+v, %v", plan, err)
	}
	b.seesAs("2", "7")
	told := 0
	b.Watch = func(engine.Event) { told++ }
	options.Plan = &engine.ExpectedPlan{Digest: plan.Plan.Digest, Plan: plan.Plan}
	previewed, err := b.Plan(context.Background(), b.watts(60), options)
	if err != nil || previewed.Outcome != runbook.Failed || len(previewed.Warnings) > 0 {
		t.Errorf("previewed %+v, %v", previewed, err)
	}
	told = 0
	_, err = b.Run(context.Background(), b.watts(60), options)
	if want := "run run-1 is open on this target, with other inputs or content, and stays open: the plan has changed: " +
		"evidence lamp-in-sight eye.identity: was 1, now 2"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if b.record("run-1").Closed != nil || told > 0 {
		t.Errorf("closed %+v, told of %d events", b.record("run-1").Closed, told)
	}
	b.seesAs("1", "7")
	b.Watch = nil
	result, err := b.Run(context.Background(), b.watts(60), options)
	if err != nil || result.Outcome != runbook.Remediated || b.record("run-1").Closed == nil {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestBoundRunGoesOnAfterItsPreflight: what was tidied up is done, and evidence of before is no more.
func TestBoundRunGoesOnAfterItsPreflight(t *testing.T) {
	b := newBench(t)
	ladder := true
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	b.sees = func() runbook.Finding {
		identity := "behind a ladder"
		if !ladder {
			identity = "in plain sight"
			cancel(engine.ErrInterrupted)
		}
		return runbook.Yes("there it is").WithEvidence(runbook.Evidence{Source: "eye", Identity: identity})
	}
	plan := b.preview(b.untidy(&ladder)).Plan
	bound := engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}}
	if result, err := b.Run(ctx, b.untidy(&ladder), bound); err != nil || !result.Open || ladder {
		t.Fatalf("%+v, %v, ladder %v", result, err, ladder)
	}
	expect(t, b.runWith(b.untidy(&ladder), bound), runbook.Remediated, "")
}
