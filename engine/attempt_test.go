package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
	"salve/runbook"
)

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
