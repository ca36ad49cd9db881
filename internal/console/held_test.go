package console

import (
	"fmt"
	"strings"
	"testing"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// TestFailureOfAHeldStepIsToldAboveTheLog: its group waits for another one's, and what the host marks comes behind it.
func TestFailureOfAHeldStepIsToldAboveTheLog(t *testing.T) {
	for name, end := range map[string]engine.Event{
		"when the open group ends": {At: midnight, Kind: engine.StepEnded, Step: "one",
			Result: &journal.Result{Result: journal.Done}},
		"when the run ends": {At: midnight, Kind: engine.RunEnded, Verdict: &journal.Verdict{Outcome: runbook.Failed}},
	} {
		t.Run(name, func(t *testing.T) {
			told := toldOf(GitHubActions, []engine.Event{
				{At: midnight, Kind: engine.StepBegan, Step: "one"},
				{At: midnight, Kind: engine.StepBegan, Step: "two"},
				{At: midnight, Kind: engine.StepEnded, Step: "two",
					Result: &journal.Result{Result: journal.Failure, Reason: "no capacity"}},
				end,
			})
			_, behind, _ := strings.Cut(told, "::group::two\n")
			if _, behind, _ = strings.Cut(behind, "::endgroup::\n"); !strings.HasPrefix(behind,
				"::error title=two::failed: no capacity\n") {
				t.Errorf("told is:\n%s", told)
			}
			wellFormed(t, told)
		})
	}
}

// TestNoWarningOfAHeldStepIsLeftOut, however much the step says; of what is ordinary it is said how much was.
func TestNoWarningOfAHeldStepIsLeftOut(t *testing.T) {
	for _, host := range []Host{GitHubActions, AzurePipelines} {
		events := []engine.Event{
			{At: midnight, Kind: engine.StepBegan, Step: "one"},
			{At: midnight, Kind: engine.StepBegan, Step: "two"},
		}
		for n := range 3 * heldLines {
			events = append(events, engine.Event{At: midnight, Kind: engine.Waiting, Step: "two", Text: fmt.Sprint("line ", n)})
			if n%10 == 0 {
				events = append(events, engine.Event{At: midnight, Kind: engine.Warning, Step: "two",
					Text: fmt.Sprintf("odd %d.", n)})
			}
		}
		found := runbook.No("gone")
		found.Guard = "there"
		events = append(events,
			engine.Event{At: midnight, Kind: engine.Found, Step: "two", Finding: &found},
			engine.Event{At: midnight, Kind: engine.StepEnded, Step: "two",
				Result: &journal.Result{Result: journal.Failure, Reason: "no capacity"}},
			engine.Event{At: midnight, Kind: engine.StepEnded, Step: "one", Result: &journal.Result{Result: journal.Done}})
		told := toldOf(host, events)
		for n := 0; n < 3*heldLines; n += 10 {
			if strings.Count(told, fmt.Sprintf("odd %d.", n)) != 2 { // in the log, and as what the host shows above it
				t.Fatalf("warning %d is told %d times", n, strings.Count(told, fmt.Sprintf("odd %d.", n)))
			}
		}
		for _, want := range []string{
			"401 ordinary lines were left out here", "there does-not-hold: gone", "failed after 0s: no capacity", "line 198\n",
		} {
			if strings.Count(told, want) != 1 {
				t.Errorf("%q is told %d times:\n%s", want, strings.Count(told, want), told)
			}
		}
		if strings.Contains(told, "line 199\n") {
			t.Error("more lines are held than are to be")
		}
		wellFormed(t, told)
	}
}

// TestOutcomeStandsInNoGroup, also where a step's end was not told.
func TestOutcomeStandsInNoGroup(t *testing.T) {
	told := toldOf(GitHubActions, []engine.Event{
		{At: midnight, Kind: engine.StepBegan, Step: "one"},
		{At: midnight, Kind: engine.RunEnded, Run: "run-1", Verdict: &journal.Verdict{
			Outcome: runbook.NeedsAttention, Reason: "nobody knows", Question: "Is it done?"}},
	})
	want := "::endgroup::\n00:00:00  needs-attention: nobody knows Question: Is it done?\n" +
		"::error title=run run-1::needs-attention: nobody knows Question: Is it done?\n"
	if !strings.HasSuffix(told, want) {
		t.Errorf("told is:\n%s", told)
	}
}

// TestLinesAreBounded: what a server says at length takes one line, and not the log.
func TestLinesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 100*shownText)
	told := toldOf(GitHubActions, []engine.Event{
		{At: midnight, Kind: engine.StepBegan, Step: "one"},
		{At: midnight, Kind: engine.Warning, Step: "one", Text: long},
		{At: midnight, Kind: engine.StepEnded, Step: "one", Result: &journal.Result{Result: journal.Failure, Reason: long}},
		{At: midnight, Kind: engine.RunEnded, Verdict: &journal.Verdict{Outcome: runbook.Failed, Reason: long}},
	})
	for line := range strings.Lines(told) {
		if len(line) > 2*shownText {
			t.Errorf("a line of %d bytes: %.80s", len(line), line)
		}
	}
}

// TestMarksTellNoSecret: what a host shows above the log is clean as the log is.
func TestMarksTellNoSecret(t *testing.T) {
	const said = "the API server said: Authorization: Bearer hunter2hunter2hunter2 \x1b[2J"
	result := func(kind journal.ResultKind) *journal.Result { return &journal.Result{Result: kind, Reason: said} }
	for name, event := range map[string]engine.Event{
		"a warning":          {Kind: engine.Warning, Step: "one", Text: said},
		"a failure":          {Kind: engine.StepEnded, Step: "one", Result: result(journal.Failure)},
		"an unknown outcome": {Kind: engine.StepEnded, Step: "one", Result: result(journal.Unknown)},
		"a rollback":         {Kind: engine.RollbackBegan, Text: said},
		"the end":            {Kind: engine.RunEnded, Verdict: &journal.Verdict{Outcome: runbook.Failed, Reason: said}},
	} {
		for _, host := range []Host{GitHubActions, AzurePipelines} {
			told := toldOf(host, []engine.Event{event})
			if strings.Contains(told, "hunter2") || strings.Contains(told, "\x1b") || !strings.Contains(told, "[redacted]") {
				t.Errorf("%s: told is %q", name, told)
			}
		}
	}
}
