package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// outcomesOf are the outcomes of step g/a, as its run's record has them.
func (b *bench) outcomesOf(run string) (all []journal.Result) {
	b.Helper()
	for _, entry := range b.record(run).Entries {
		if entry.Kind != journal.Outcome || entry.Step != "g/a" {
			continue
		}
		var result journal.Result
		if err := json.Unmarshal(entry.Data, &result); err != nil {
			b.Fatal(err)
		}
		all = append(all, result)
	}
	return all
}

// TestWhatWasStartedIsNeverRefused: "refused" says that nothing happened.
func TestWhatWasStartedIsNeverRefused(t *testing.T) {
	unread := rollout.Outcome{Result: journal.Unknown, Unread: errors.New("line 1")}
	for name, test := range map[string]struct {
		fields  string
		outcome rollout.Outcome
		result  journal.Result
		asked   string
	}{
		"never started": {outcome: rollout.Outcome{Result: journal.Failure, Refused: true},
			result: journal.Result{Result: journal.Failure, Refused: true, Class: apierr.Terminal}},
		"exit code 1": {outcome: rollout.Outcome{Result: journal.Failure},
			result: journal.Result{Result: journal.Failure, Class: apierr.Terminal}},
		"unread": {outcome: unread, asked: "mend what it hands on: it ended with exit code 0, but its outputs " +
			"can't be read: line 1.",
			result: journal.Result{Result: journal.Unknown, Class: apierr.Unclassified}},
		"unread, idempotent": {fields: "; idempotent: true", outcome: unread,
			result: journal.Result{Result: journal.Failure, Class: apierr.Terminal}},
		"cut off, idempotent": {fields: "; idempotent: true", outcome: rollout.Outcome{Result: journal.Unknown},
			result: journal.Result{Result: journal.Failure, Class: apierr.Terminal}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				plan := b.plan("", "a"+test.fields)
				b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome { return test.outcome }
				first := b.run(t.Context(), plan, rollout.Options{})
				got := b.outcomesOf(first.Run)
				if len(got) != 1 || got[0].Result != test.result.Result || got[0].Refused != test.result.Refused ||
					got[0].Class != test.result.Class {
					t.Errorf("the record has %+v, want %+v", got, test.result)
				}
				if (first.Question != "") != (test.asked != "") || !strings.Contains(first.Question, test.asked) {
					t.Errorf("asked %q", first.Question)
				}
				b.calls, b.does["a"] = nil, nil
				resumed, err := b.runner().Resume(t.Context(), plan, first.Run, rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if test.asked == "" {
					b.expect(resumed, runbook.RolledOut, "")
				} else if b.expect(resumed, runbook.NeedsAttention, ""); len(b.calls) > 0 {
					t.Errorf("ran %v without asking", b.calls)
				}
			})
		})
	}
}

// TestCutOffAndRunAgainIsNotRefused: nobody knows how far it came.
func TestCutOffAndRunAgainIsNotRefused(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome { panic("half of it is done") }
		result := b.run(t.Context(), b.plan("", "a; idempotent: true"), rollout.Options{})
		b.expect(result, runbook.Failed, "half of it is done")
		if got := b.outcomesOf(result.Run); len(got) != 2 || got[1].Refused {
			t.Errorf("the record has %+v", got)
		}
	})
}
