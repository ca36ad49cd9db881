package runbook_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"salve/runbook"
)

// TestWhatWasNotReadIsUnreplayable: a decision that would take it answers unknown live, and is not made from a record.
func TestWhatWasNotReadIsUnreplayable(t *testing.T) {
	yes, no, unread := runbook.Yes("seen"), runbook.No("not seen"), runbook.Unread("the second list")
	for name, row := range map[string]struct {
		finding    runbook.Finding
		answer     runbook.Answer
		replayable bool
	}{
		"what was not read":              {unread, runbook.AnswerUnknown, false},
		"beside a proof":                 {runbook.Any(unread, yes), runbook.AnswerHolds, true},
		"beside what does not hold":      {runbook.Any(no, unread), runbook.AnswerUnknown, false},
		"beside something else that is":  {runbook.Any(runbook.Unknownf("403"), unread), runbook.AnswerUnknown, false},
		"unknown for another reason":     {runbook.Unknownf("403"), runbook.AnswerUnknown, true},
		"two that do not hold are known": {runbook.Any(no, no), runbook.AnswerDoesNotHold, true},
	} {
		guard := runbook.Ask("lamp", "?", func(context.Context, runbook.Run) (bool, error) { return true, nil },
			func(bool) runbook.Finding { return row.finding })
		if live := guard.Evaluate(t.Context(), round{number: 1}); live.Answer != row.answer {
			t.Errorf("%s: %s", name, live.Answer)
		}
		_, err := guard.Decide(runbook.Reading{Value: json.RawMessage("true")})
		var lacking *runbook.UnreplayableError
		if errors.As(err, &lacking) == row.replayable || lacking != nil && lacking.What != "the second list" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
