package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// TestPreviewSaysThatARunWouldRefuseThePlan: of one that it is asked to execute, and of one that the open run is bound
// to.
func TestPreviewSaysThatARunWouldRefuseThePlan(t *testing.T) {
	b := newBench(t)
	b.seesAs("1", "7")
	plan := b.preview(b.book()).Plan
	bound := engine.Options{Plan: &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}}
	if result, err := b.Plan(t.Context(), b.book(), bound); err != nil || result.Outcome != "" {
		t.Errorf("nothing has changed: %+v, %v", result, err)
	}
	b.seesAs("2", "7")
	result, err := b.Plan(t.Context(), b.book(), bound)
	if want := "the plan has changed: evidence lamp-in-sight eye.identity: was 1, now 2"; err != nil ||
		result.Outcome != runbook.Failed || result.Reason != want {
		t.Errorf("%q, %q, %v", result.Outcome, result.Reason, err)
	}
	b.interruptedIn(0, engine.Options{Plan: &engine.ExpectedPlan{Digest: b.preview(b.book()).Plan.Digest}})
	book := b.book()
	book.Steps = append(book.Steps, b.step("dust-off", func() bool { return false }, func() {}))
	if result := b.preview(book); result.Outcome != runbook.Failed || !strings.Contains(result.Reason, "dust-off") {
		t.Errorf("of an open run: %+v", result)
	}
}

// TestPreviewOfWhatIsMadeFirst has the plan that a run is bound to: neither asks the guards that need what is made.
func TestPreviewOfWhatIsMadeFirst(t *testing.T) {
	b := newBench(t)
	made := false
	book := func() runbook.Runbook {
		book := b.book()
		book.Guards = append(book.Guards, runbook.Guard{
			Name: "fed", PrepareBudget: time.Minute,
			Prepare: func(context.Context, runbook.Run) error { made = true; return nil },
			Evaluate: func(context.Context, runbook.Run) runbook.Finding {
				if !made {
					return runbook.No("there is no bread").WithOutcome(runbook.Failed)
				}
				return runbook.Yes("there is bread")
			},
		})
		return book
	}
	previewed := b.preview(book())
	if previewed.Plan == nil || made {
		t.Fatalf("previewed %+v, made %v", previewed, made)
	}
	b.stopped(b.book(), 0, engine.Options{})
	later := book()
	later.Guards[1].OnResume = true
	if rest := b.preview(later); rest.Plan == nil || rest.Outcome != "" || made {
		t.Fatalf("previewed of an open run: %+v, made %v", rest, made)
	}
	b = newBench(t)
	result := b.runWith(book(), engine.Options{Plan: &engine.ExpectedPlan{Digest: previewed.Plan.Digest}})
	expect(t, result, runbook.Remediated, "")
}

// TestPreviewOfARunThatTakesTheOpenOnesPlace is that of a new run, unless the open one may not be closed.
func TestPreviewOfARunThatTakesTheOpenOnesPlace(t *testing.T) {
	b := newBench(t)
	b.run(b.stuck())
	other := b.book()
	other.Inputs = map[string]int{"watts": 40}
	var keep error
	options := engine.Options{Supersede: func(*journal.History) error { return keep }}
	result, err := b.Plan(t.Context(), other, options)
	if want := []string{"hang-sign", "switch-off"}; err != nil || !slices.Equal(planned(result), want) ||
		len(result.Warnings) != 1 || !strings.HasSuffix(result.Warnings[0], "a run would close it") {
		t.Errorf("%+v, %v", result, err)
	}
	b.sees = func() runbook.Finding { return runbook.No("it is dark").WithOutcome(runbook.Failed) }
	if result, err := b.Plan(t.Context(), other, options); err != nil || result.Outcome != runbook.Failed ||
		len(result.Warnings) != 1 { // a run closes the open one before it asks
		t.Errorf("%+v, %v", result, err)
	}
	b.sees = nil
	keep = errors.New("it is not known what it did")
	if _, err := b.Plan(t.Context(), other, options); !errors.Is(err, keep) {
		t.Errorf("got %v", err)
	}
	keep = nil
	if result, err := b.Plan(t.Context(), b.book(), options); err != nil ||
		!slices.Equal(planned(result), []string{"switch-off"}) {
		t.Errorf("of the same run: %+v, %v", result, err)
	}
}
