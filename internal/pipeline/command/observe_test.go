package command_test

import (
	"strings"
	"testing"

	"salve/journal"
)

// TestObserveCommand: exit code 0 says that the step has done its work, 10 that it has
// not; anything else is for an operator.
func TestObserveCommand(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		result journal.ResultKind
		reason string
	}{
		"it happened":            {`echo size=3 >$SALVE_OUTPUT`, journal.Done, ""},
		"it did not":             {"echo not there; exit 10", journal.Failure, "exit code 10: not there"},
		"it fails":               {"exit 1", journal.Unknown, "exit code 1"},
		"it is killed":           {"kill -9 $$", journal.Unknown, "killed by signal 9"},
		"it is not there":        {"no-such-program", journal.Unknown, "exit code 127"},
		"its outputs are broken": {"echo nonsense >$SALVE_OUTPUT", journal.Unknown, "its outputs can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, "exit 7", "observe: '"+test.script+"'")
			if !s.action.Observes(s.attempt.Step) {
				t.Fatal("it does not observe")
			}
			outcome := s.action.Observe(t.Context(), s.attempt)
			if outcome.Result != test.result || !strings.Contains(outcome.Reason, test.reason) {
				t.Errorf("%+v", outcome)
			}
			if test.result == journal.Done && outcome.Outputs["size"].Value != "3" {
				t.Errorf("it hands on %v", outcome.Outputs)
			}
		})
	}
	if s := newShop(t, "true"); s.action.Observes(s.attempt.Step) {
		t.Error("a step without an observe command observes")
	}
}
