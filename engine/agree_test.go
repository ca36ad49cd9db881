package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"salve/engine"
	"salve/runbook"
)

// seesAs has the guard see a lamp of this identity and value.
func (b *bench) seesAs(identity, value string) {
	b.sees = func() runbook.Finding {
		return runbook.Yes("there it is").WithEvidence(
			runbook.Evidence{Source: "eye", Identity: identity, Value: []byte(value)})
	}
}

// TestRunExecutesThePlanOrSaysWhatHasChanged, field by field, and changes nothing.
func TestRunExecutesThePlanOrSaysWhatHasChanged(t *testing.T) {
	for name, row := range map[string]struct {
		change func(b *bench, book *runbook.Runbook)
		ends   runbook.Outcome
		want   []string
	}{
		"nothing has changed": {func(*bench, *runbook.Runbook) {}, runbook.Remediated, []string{"all final checks hold"}},
		"evidence": {func(b *bench, _ *runbook.Runbook) { b.seesAs("2", `{"watts":40,"on":true}`) }, runbook.Failed,
			[]string{"evidence lamp-in-sight eye.identity: was 1, now 2", "evidence lamp-in-sight eye.watts: was 60, now 40"}},
		"an input": {func(_ *bench, book *runbook.Runbook) { book.Inputs = map[string]int{"watts": 40} }, runbook.Failed,
			[]string{"inputs: was null, now {\"watts\":40}"}},
		"what a step is made with": {func(_ *bench, book *runbook.Runbook) {
			book.Steps[0].Inputs = func(runbook.Run) (any, error) { return map[string]int{"nails": 3}, nil }
		}, runbook.Failed, []string{`step hang-sign.inputs: was {"nails":2}, now {"nails":3}`}},
		"a step more": {func(b *bench, book *runbook.Runbook) {
			more := b.step("dust-off", func() bool { return false }, func() {})
			more.Changes = "dust the lamp off"
			book.Steps = append([]runbook.Step{more}, book.Steps...)
		}, runbook.Failed, []string{"step dust-off: now dust the lamp off, was absent"}},
		"a step less": {func(_ *bench, book *runbook.Runbook) { book.Steps = book.Steps[1:] }, runbook.Failed,
			[]string{"step hang-sign: was hang the sign out, now absent"}},
		"the runbook's version": {func(_ *bench, book *runbook.Runbook) { book.Version = "2" }, runbook.Failed,
			[]string{"version: was 1, now 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.seesAs("1", `{"watts":60,"on":true}`)
			planned := func() runbook.Runbook {
				book := b.book()
				book.Steps[0].Changes = "hang the sign out"
				book.Steps[0].Inputs = func(runbook.Run) (any, error) { return map[string]int{"nails": 2}, nil }
				return book
			}
			plan := b.preview(planned()).Plan
			book := planned()
			row.change(b, &book)
			result := b.runWith(book, engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}})
			expect(t, result, row.ends, "")
			for _, want := range row.want {
				if name == "what a step is made with" {
					want = "step hang-sign.inputs.nails: was 2, now 3"
				}
				if !strings.Contains(result.Reason, want) {
					t.Errorf("reason %q, want %q in it", result.Reason, want)
				}
			}
			if row.ends == runbook.Failed {
				b.expectNoChange(t)
			}
		})
	}
}

// TestRunBoundToADigestAlone can't say what has changed, and says how to find out.
func TestRunBoundToADigestAlone(t *testing.T) {
	b := newBench(t)
	b.seesAs("1", "7")
	digest := b.preview(b.book()).Plan.Digest
	b.seesAs("2", "7")
	result := b.runWith(b.book(), engine.Options{Plan: &engine.ExpectedPlan{Digest: digest}})
	expect(t, result, runbook.Failed, "its digest was "+digest)
	b.expectNoChange(t)
	b.seesAs("1", "7")
	expect(t, b.runWith(b.book(), engine.Options{Plan: &engine.ExpectedPlan{Digest: digest}}), runbook.Remediated, "")
}

// TestBoundRunStaysBoundWhenItIsResumed: the digest is in its record.
func TestBoundRunStaysBoundWhenItIsResumed(t *testing.T) {
	for name, row := range map[string]struct {
		steps []string
		want  runbook.Outcome
	}{
		"to the same steps":  {nil, runbook.Remediated},
		"not to other steps": {[]string{"dust-off"}, runbook.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			plan := b.preview(b.book()).Plan
			b.interruptedIn(0, engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest}})
			book := b.book()
			for _, name := range row.steps {
				book.Steps = append(book.Steps, b.step(name, func() bool { return false }, func() {}))
			}
			result, err := b.Resume(context.Background(), book, "run-1", engine.Options{})
			if err != nil || result.Outcome != row.want {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// TestPlanIsNotForgottenPastThePointOfNoReturn: an open run that goes on with its own plan is not taken for one that
// was asked for.
func TestPlanIsNotForgottenPastThePointOfNoReturn(t *testing.T) {
	b := newBench(t)
	plan := b.preview(b.book()).Plan
	b.interruptedIn(1, engine.Options{})
	_, err := b.Run(context.Background(), b.book(), engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest}})
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "run-1 is open on this target, past its point of no") {
		t.Errorf("got %v", err)
	}
	if result := b.run(b.book()); result.Outcome != runbook.Remediated {
		t.Errorf("without a plan it goes on: %+v", result)
	}
}

// TestPlanOfAnotherTargetIsRefused, though nothing was to be done on this one.
func TestPlanOfAnotherTargetIsRefused(t *testing.T) {
	b := newBench(t)
	plan := b.preview(b.book()).Plan
	for field, change := range map[string]func(*runbook.Target){
		"id":   func(target *runbook.Target) { target.ID = "lamp/2" },
		"name": func(target *runbook.Target) { target.Name = "another lamp" },
	} {
		other := *plan
		change(&other.Target)
		_, err := b.Run(context.Background(), b.book(),
			engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest, Plan: &other}})
		if err == nil || !strings.Contains(err.Error(), "the plan is for ") {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

// TestStepIsMadeWithWhatThePlanSays: what the plan left empty a step before may fill, and nothing else moves.
func TestStepIsMadeWithWhatThePlanSays(t *testing.T) {
	for name, row := range map[string]struct {
		planned, made map[string]string
		ends          runbook.Outcome
	}{
		"the same":                {map[string]string{"uid": "1"}, map[string]string{"uid": "1"}, runbook.Remediated},
		"what the plan left open": {map[string]string{"uid": ""}, map[string]string{"uid": "1"}, runbook.Remediated},
		"another":                 {map[string]string{"uid": "1"}, map[string]string{"uid": "2"}, runbook.Failed},
		"more": {map[string]string{"uid": "1"}, map[string]string{"uid": "1", "force": "yes"},
			runbook.Failed},
		"less": {map[string]string{"uid": "1"}, map[string]string{}, runbook.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			book := b.book()
			book.Steps[1].Inputs = func(run runbook.Run) (any, error) {
				if run.Step("hang-sign").Done {
					return row.made, nil
				}
				return row.planned, nil
			}
			plan := b.preview(book).Plan
			result := b.runWith(book, engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}})
			expect(t, result, row.ends, "")
			if changed := slices.Contains(b.calls, "switch-off"); changed != (row.ends == runbook.Remediated) {
				t.Errorf("changes %v", b.calls)
			}
			want := "step switch-off is not as planned: step switch-off.inputs"
			if row.ends == runbook.Failed && !strings.Contains(result.Reason, want) {
				t.Errorf("reason %q", result.Reason)
			}
		})
	}
}

// TestInputsThatTheStepItselfTriesNext are part of the plan: the step says so in what it changes.
func TestInputsThatTheStepItselfTriesNext(t *testing.T) {
	b := newBench(t)
	nails := 4
	book := b.book()
	book.Steps[0].Inputs = func(runbook.Run) (any, error) { return nails, nil }
	book.Steps[0].RetryWith = func(context.Context, runbook.Run, error) (bool, error) { nails--; return nails > 0, nil }
	plan := b.preview(book).Plan
	b.faults["hang-sign"] = []error{errStuck}
	result := b.runWith(book, engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}})
	expect(t, result, runbook.Remediated, "")
	if nails != 3 {
		t.Errorf("%d nails", nails)
	}
}

// TestPreflightOfABoundRun is a part of its plan: nothing is tidied up under another one.
func TestPreflightOfABoundRun(t *testing.T) {
	for name, row := range map[string]struct {
		change func(b *bench, book *runbook.Runbook)
		ends   runbook.Outcome
		calls  []string
	}{
		"is done first": {func(*bench, *runbook.Runbook) {}, runbook.Remediated,
			[]string{"put-ladder-away", "hang-sign", "switch-off"}},
		"is not done under another plan": {func(_ *bench, book *runbook.Runbook) { book.Version = "2" }, runbook.Failed, nil},
		"and then the plan has to be the same": {func(_ *bench, book *runbook.Runbook) {
			book.Steps[1].Inputs = func(run runbook.Run) (any, error) {
				return map[string]bool{"ladder": !run.Step("put-ladder-away").Done}, nil
			}
		}, runbook.Failed, []string{"put-ladder-away"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, ladder := newBench(t), true
			book := b.untidy(&ladder)
			book.Steps[1].Inputs = func(runbook.Run) (any, error) { return map[string]bool{"ladder": true}, nil }
			plan := b.preview(book).Plan
			row.change(b, &book)
			result := b.runWith(book, engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}})
			expect(t, result, row.ends, "")
			if !slices.Equal(b.calls, row.calls) {
				t.Errorf("changes %v, want %v: %s", b.calls, row.calls, result.Reason)
			}
		})
	}
}

// TestStepsAloneBindWhatAnOperatorWasShown: evidence may move while somebody reads.
func TestStepsAloneBindWhatAnOperatorWasShown(t *testing.T) {
	b := newBench(t)
	b.seesAs("1", "7")
	shown := b.preview(b.book()).Plan
	b.seesAs("2", "8")
	book := b.book()
	book.Steps[0].Changes = "something else"
	asShown := engine.Options{Plan: &engine.ExpectedPlan{Digest: shown.Digest, Plan: shown, StepsOnly: true}}
	expect(t, b.runWith(book, asShown), runbook.Failed, "step hang-sign.changes: now something else, was absent")
	b.expectNoChange(t)
	expect(t, b.runWith(b.book(), asShown), runbook.Remediated, "")
}

// TestApprovalNeedsSomewhereToLook.
func TestApprovalNeedsSomewhereToLook(t *testing.T) {
	b, _, options := gated(t)
	b.Approvals = nil
	_, err := b.Run(context.Background(), b.book(), options)
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) {
		t.Errorf("got %v", err)
	}
}
