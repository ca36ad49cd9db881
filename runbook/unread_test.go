package runbook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
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

// TestDecisionGoesWithItsReading, and says what a reading that was left out was.
func TestDecisionGoesWithItsReading(t *testing.T) {
	guard := runbook.Ask("lamp", "?", func(context.Context, runbook.Run) (bool, error) { return true, nil },
		func(bool) runbook.Finding { return runbook.Yes("it is lit") })
	guard.NotOverridable = true
	finding, err := guard.Decide(runbook.Reading{Value: json.RawMessage("true")})
	if err != nil || finding.Reading == nil || string(finding.Reading.Value) != "true" || !finding.Locked {
		t.Errorf("%+v, %v", finding, err)
	}
	_, err = guard.Decide(runbook.Reading{Omitted: "5 MiB"})
	if err == nil || !strings.Contains(err.Error(), "its reading (5 MiB)") {
		t.Errorf("%v", err)
	}
	whileItReads := runbook.Guard{Name: "lamp", Evaluate: guard.Evaluate}
	_, err = whileItReads.Decide(runbook.Reading{Value: json.RawMessage("true")})
	if err == nil || !strings.Contains(err.Error(), "the world itself") || whileItReads.Recorded() || !guard.Recorded() {
		t.Errorf("%v", err)
	}
}

// TestRunThatHasBegunIsNotPutOff: what would defer one interrupts the other, which has failed.
func TestRunThatHasBegunIsNotPutOff(t *testing.T) {
	for name, row := range map[string]struct {
		begun   bool
		finding runbook.Finding
		want    runbook.Outcome
	}{
		"deferred before it begins": {false, runbook.No("busy").WithOutcome(runbook.Deferred), runbook.Deferred},
		"deferred under way":        {true, runbook.No("busy").WithOutcome(runbook.Deferred), runbook.Failed},
		"another end under way":     {true, runbook.No("gone").WithOutcome(runbook.NeedsAttention), runbook.NeedsAttention},
		"it holds under way":        {true, runbook.Yes("idle"), ""},
	} {
		guard := runbook.AskUnderWay("room", "?", func(runbook.Run) bool { return row.begun },
			func(context.Context, runbook.Run) (string, error) { return "seen", nil },
			func(seen string) runbook.Finding {
				if seen != "seen" {
					t.Errorf("%s: decided on %q", name, seen)
				}
				return row.finding
			})
		live := guard.Evaluate(t.Context(), round{number: 1})
		again, err := guard.Decide(*live.Reading)
		if err != nil || live.Outcome != row.want || again.Outcome != row.want {
			t.Errorf("%s: %s, again %s, %v", name, live.Outcome, again.Outcome, err)
		}
	}
	blind := runbook.AskUnderWay("room", "?", func(runbook.Run) bool { return true },
		func(context.Context, runbook.Run) (string, error) { return "", errors.New("403") },
		func(string) runbook.Finding { return runbook.Yes("idle") })
	if live := blind.Evaluate(t.Context(), round{number: 1}); live.Answer != runbook.AnswerUnknown {
		t.Errorf("%+v", live)
	}
}
