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

	"salve/engine"
	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

func TestFaultsOfAChange(t *testing.T) {
	throttled, conflict := apierr.New(apierr.Throttled, "429"), apierr.New(apierr.Conflict, "409")
	for name, row := range map[string]struct {
		faults  map[string][]error
		outcome runbook.Outcome
		reason  string
		calls   []string
		takes   time.Duration
	}{
		"an answer lost after the change is not followed by another change": {
			faults:  map[string][]error{"hang-sign": {errLost}},
			outcome: runbook.Remediated, calls: []string{"hang-sign", "switch-off"}, takes: 5 * time.Second},
		"a change that is seen not to have happened is made again": {
			faults:  map[string][]error{"hang-sign": {apierr.New(apierr.Transient, "503")}},
			outcome: runbook.Remediated, calls: []string{"hang-sign", "hang-sign", "switch-off"}, takes: 5 * time.Second},
		"throttled and in conflict: again, after pauses that grow": {
			faults:  map[string][]error{"hang-sign": {throttled, conflict}},
			outcome: runbook.Remediated, calls: []string{"hang-sign", "hang-sign", "hang-sign", "switch-off"},
			takes: 5*time.Second + 8*time.Second + 500*time.Millisecond},
		"not before the service wants to be asked again": {
			faults: map[string][]error{"hang-sign": {&apierr.Error{Class: apierr.Throttled, RetryAfter: 3 * time.Minute,
				Err: errors.New("429")}}},
			outcome: runbook.Remediated, calls: []string{"hang-sign", "hang-sign", "switch-off"}, takes: 3 * time.Minute},
		"refused for good before the point of no return: undone": {
			faults:  map[string][]error{"hang-sign": {apierr.New(apierr.Terminal, "no nail")}},
			outcome: runbook.Failed, reason: "step hang-sign: no nail", calls: []string{"hang-sign"}},
		"not there: as refused for good": {
			faults:  map[string][]error{"hang-sign": {apierr.New(apierr.Missing, "no wall")}},
			outcome: runbook.Failed, reason: "step hang-sign: no wall", calls: []string{"hang-sign"}},
		"refused for good at the point of no return: it was not passed, so undone": {
			faults:  map[string][]error{"switch-off": {errStuck}},
			outcome: runbook.Failed, reason: "step switch-off: stuck",
			calls: []string{"hang-sign", "switch-off", "take-sign-in"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.faults = row.faults
				began := time.Now()
				result := b.run(b.book())
				if expect(t, result, row.outcome, ""); row.reason != "" && result.Reason != row.reason {
					t.Errorf("the reason is %q, want %q", result.Reason, row.reason)
				}
				if !slices.Equal(b.calls, row.calls) {
					t.Errorf("changes %v, want %v", b.calls, row.calls)
				}
				if took := time.Since(began); took != row.takes {
					t.Errorf("took %s, want %s", took, row.takes)
				}
			})
		})
	}
}

// TestStepIsTriedForItsTime: refusals that clear by themselves are waited out for twenty
// minutes, or the step's budget, and a lack of rights for five.
func TestStepIsTriedForItsTime(t *testing.T) {
	for name, row := range map[string]struct {
		class  apierr.Class
		budget time.Duration
		least  time.Duration
	}{
		"denied":                  {class: apierr.Denied, least: 5 * time.Minute},
		"in conflict":             {class: apierr.Conflict, least: 20 * time.Minute},
		"throttled":               {class: apierr.Throttled, least: 20 * time.Minute},
		"in conflict for an hour": {class: apierr.Conflict, budget: 40 * time.Minute, least: 40 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.faults["hang-sign"] = slices.Repeat([]error{apierr.New(row.class, "not now")}, 1000)
				book := b.book()
				book.Budget, book.Steps[0].Budget = 24*time.Hour, row.budget
				var paused []string
				b.Watch = func(event engine.Event) {
					if event.Kind == engine.Waiting {
						paused = append(paused, event.Step+": "+event.Text)
					}
				}
				began := time.Now()
				expect(t, b.run(book), runbook.Failed, "not now")
				if took := time.Since(began); took < row.least || took > row.least+time.Minute {
					t.Errorf("gave up after %s", took)
				}
				if tries := len(b.calls); len(paused) != tries-1 {
					t.Errorf("%d attempts, %d pauses announced", tries, len(paused))
				}
				if want := "hang-sign: step hang-sign: not now; next attempt in 5s"; paused[0] != want {
					t.Errorf("told %q, want %q", paused[0], want)
				}
			})
		})
	}
}

func TestRefusedStepAsksItsGuardsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.faults["hang-sign"] = []error{apierr.New(apierr.Throttled, "429")}
		b.run(b.book())
		b.expectStory("opened", "evaluated start", "planned",
			"evaluated step hang-sign", "intent hang-sign", "outcome hang-sign failed, never happened",
			"evaluated step hang-sign", "intent hang-sign", "outcome hang-sign done",
			"evaluated step switch-off", "intent switch-off", "outcome switch-off done",
			"evaluated checks", "closed remediated")
		if attempts := b.record("run-1").Step("hang-sign").Attempts; attempts != 2 {
			t.Errorf("%d attempts in the journal", attempts)
		}
	})
}

func TestRetryWithTriesOtherInputs(t *testing.T) {
	tooLarge := apierr.New(apierr.Terminal, "too large")
	for name, row := range map[string]struct {
		faults []error
		retry  func(run runbook.Run, refused error, asked int) (bool, error)
		ends   runbook.Outcome
		reason string
		asked  int
		inputs []string
	}{
		"until it fits": {faults: []error{tooLarge, tooLarge}, ends: runbook.Remediated, asked: 2,
			retry:  func(runbook.Run, error, int) (bool, error) { return true, nil },
			inputs: []string{"4 nails", "3 nails", "2 nails"}},
		"until none are left": {faults: []error{tooLarge, apierr.New(apierr.Terminal, "still too large")},
			ends: runbook.Failed, reason: "step hang-sign: still too large", asked: 2,
			retry:  func(_ runbook.Run, _ error, asked int) (bool, error) { return asked == 1, nil },
			inputs: []string{"4 nails", "3 nails"}},
		"unless they can't be told": {faults: []error{tooLarge}, ends: runbook.Failed,
			reason: "step hang-sign: too large\nno list of nails", asked: 1, inputs: []string{"4 nails"},
			retry: func(runbook.Run, error, int) (bool, error) { return true, errors.New("no list of nails") }},
		"unless it panics": {faults: []error{tooLarge}, ends: runbook.Failed,
			reason: "step hang-sign: too large\npanic: no list", asked: 1, inputs: []string{"4 nails"},
			retry: func(runbook.Run, error, int) (bool, error) { panic("no list") }},
		"not for a refusal that clears by itself": {faults: []error{apierr.New(apierr.Conflict, "409")},
			ends: runbook.Remediated, inputs: []string{"4 nails", "4 nails"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.faults["hang-sign"] = row.faults
				book := b.book()
				asked := 0
				book.Steps[0].RetryWith = func(_ context.Context, run runbook.Run, refused error) (bool, error) {
					if asked++; !errors.Is(refused, tooLarge) && !strings.Contains(refused.Error(), "too large") {
						t.Errorf("asked because of %v", refused)
					}
					return row.retry(run, refused, asked)
				}
				book.Steps[0].Inputs = func(runbook.Run) (any, error) { return fmt.Sprintf("%d nails", 4-asked), nil }
				b.Watch = func(event engine.Event) {
					if event.Kind == engine.Waiting && asked > 0 {
						t.Errorf("told %q: other inputs are tried at once", event.Text)
					}
				}
				result := b.run(book)
				if expect(t, result, row.ends, ""); row.reason != "" && result.Reason != row.reason {
					t.Errorf("the reason is %q, want %q", result.Reason, row.reason)
				}
				var inputs []string
				for _, entry := range b.record("run-1").Entries {
					if entry.Kind == journal.Intended && entry.Step == "hang-sign" {
						inputs = append(inputs, decode[string](t, decode[journal.Intent](t, entry.Data).Inputs))
					}
				}
				if asked != row.asked || !slices.Equal(inputs, row.inputs) {
					t.Errorf("asked %d times, want %d; tried %q, want %q", asked, row.asked, inputs, row.inputs)
				}
			})
		})
	}
}

// TestStepWhoseInputsCannotBeToldIsNotBegun: nothing was announced and nothing was sent,
// so that there is nothing to wait for.
func TestStepWhoseInputsCannotBeToldIsNotBegun(t *testing.T) {
	for name, row := range map[string]struct {
		inputs func() (any, error)
		want   string
	}{
		"an error":           {func() (any, error) { return nil, errors.New("no measure") }, "step switch-off: no measure"},
		"nothing for JSON":   {func() (any, error) { return make(chan int), nil }, "step switch-off: encoding as JSON"},
		"a panic":            {func() (any, error) { panic("no measure") }, "step switch-off: panic: no measure"},
		"more than fits":     {func() (any, error) { return strings.Repeat("x", journal.MaxLine), nil }, "above the limit"},
		"nothing that waits": {func() (any, error) { return nil, apierr.New(apierr.Terminal, "never") }, "switch-off: never"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				told := 0
				book.Steps[1].Inputs = func(runbook.Run) (any, error) {
					if told++; told == 1 {
						return "a switch", nil // for the plan
					}
					return row.inputs()
				}
				began := time.Now()
				expect(t, b.run(book), runbook.Failed, row.want)
				if took := time.Since(began); took != 0 || told != 2 {
					t.Errorf("took %s, asked %d times", took, told)
				}
				if want := []string{"hang-sign", "take-sign-in"}; !slices.Equal(b.calls, want) {
					t.Errorf("changes %v, want %v", b.calls, want)
				}
			})
		})
	}
}

// TestRunThatCannotBePlannedIsNotBegun: the plan fails before anything was changed.
func TestRunThatCannotBePlannedIsNotBegun(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Steps[1].Inputs = func(runbook.Run) (any, error) { panic("no measure") }
	result := b.run(book)
	expect(t, result, runbook.Failed, "panic: no measure")
	b.expectStory("opened", "evaluated start", "warning", "closed failed")
	if result.Open || len(b.calls) > 0 {
		t.Errorf("open %v, changes %v", result.Open, b.calls)
	}
}

func TestErrorThatNobodyClassifiedIsNoReasonForAnotherChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		applied := 0
		book.Steps[0].Apply = func(context.Context, runbook.Run) error { applied++; return errors.New("what?") }
		began := time.Now()
		result := b.run(book)
		expect(t, result, runbook.Failed, "step hang-sign: what?")
		if took := time.Since(began); applied != 1 || took != time.Minute+time.Second {
			t.Errorf("attempted %d times in %s; a lost request may be on its way for a minute", applied, took)
		}
		b.expectStory("opened", "evaluated start", "planned", "evaluated step hang-sign", "intent hang-sign",
			"outcome hang-sign unknown", "outcome hang-sign failed observed, never happened", "rolling-back failed",
			"outcome take-sign-in done observed", "closed failed")
	})
}

func TestAttemptThatCannotBeClosedIsNotFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.faults["hang-sign"] = []error{apierr.New(apierr.Transient, "503")}
		b.Engine.Journal = &failing{Store: b.Journal, on: "it did not happen"}
		result := b.run(b.book())
		want := []string{"lamp-in-sight", "lamp-in-sight", "hang-sign", "hang-sign"}
		if !result.Unrecorded || !slices.Equal(b.asked, want) || len(b.calls) != 1 {
			t.Errorf("asked %v, want %v; changes %v, %+v", b.asked, want, b.calls, result)
		}
	})
}
