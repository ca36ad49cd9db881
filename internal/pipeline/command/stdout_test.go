package command_test

import (
	"maps"
	"strings"
	"testing"

	"salve/internal/pipeline/rollout"
	"salve/journal"
)

func TestStandardOutputAsAnOutput(t *testing.T) {
	s := newShop(t, "echo '{\"id\": 1}'; echo noise >&2", "outputs: [stdout]")
	outcome := s.run()
	if got := outcome.Outputs["stdout"].Value; got != `{"id": 1}` {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(s.log.String(), "noise") {
		t.Errorf("logged %q", s.log.String())
	}
	outcome = newShop(t, "head -c 300000 /dev/zero", "outputs: [stdout]").run()
	if outcome.Result != journal.Unknown || outcome.Unread == nil || !strings.Contains(outcome.Unread.Error(),
		"more on its standard output than a step may hand on") {
		t.Errorf("%+v", outcome)
	}
	outcome = newShop(t, "head -c 3 /dev/zero", "outputs: [stdout]").run()
	if outcome.Unread == nil || !strings.Contains(outcome.Unread.Error(), `output "stdout" holds a zero byte`) ||
		outcome.Outputs != nil {
		t.Errorf("%+v", outcome)
	}
}

// TestStandardOutputUnderTheNameThatIsTaken: as for rollout tools, whatever it is called.
func TestStandardOutputUnderTheNameThatIsTaken(t *testing.T) {
	const tooMuch = "head -c 300000 /dev/zero"
	for name, row := range map[string]struct {
		script, outputs string
		wanted          []string
		want            map[string]rollout.Output
		unread          string
	}{
		"any name, and newlines at its end are cut": {"echo hello; echo", "", []string{"anything"},
			map[string]rollout.Output{"anything": {Value: "hello"}}, ""},
		"several names": {"echo hello", "", []string{"a", "b"},
			map[string]rollout.Output{"a": {Value: "hello"}, "b": {Value: "hello"}}, ""},
		"what is written goes before": {"echo hello; echo a=1 >>$SALVE_OUTPUT; echo b=2 >>$SALVE_SECRET_OUTPUT", "",
			[]string{"a", "b", "c"},
			map[string]rollout.Output{"a": {Value: "1"}, "b": {Value: "2", Secret: true}, "c": {Value: "hello"}}, ""},
		"not of a step that declares its outputs":   {"echo hello", "outputs: [size]", []string{"anything"}, nil, ""},
		"nor of one that declares that it has none": {"echo hello", "outputs: []", []string{"anything"}, nil, ""},
		"stdout always": {"echo hello", "outputs: [size]", []string{"stdout"},
			map[string]rollout.Output{"stdout": {Value: "hello"}}, ""},
		"stdout, unless it is written as a secret": {"echo hello; echo stdout=hush >>$SALVE_SECRET_OUTPUT",
			"outputs: [stdout]", nil, map[string]rollout.Output{"stdout": {Value: "hush", Secret: true}}, ""},
		"a name that tells of a secret makes one under all": {"echo hello", "", []string{"id", "token"},
			map[string]rollout.Output{"id": {Value: "hello", Secret: true}, "token": {Value: "hello", Secret: true}}, ""},
		"too much": {tooMuch, "", []string{"a"}, nil, "more on its standard output"},
		"too much under several names": {"head -c 100000 /dev/zero | tr '\\0' x", "",
			[]string{"a", "b", "c"}, nil, "more on"},
		"too much for one variable": {"head -c 140000 /dev/zero | tr '\\0' x", "",
			[]string{"a"}, nil, "has 140000 bytes"},
		"too much, and nobody takes it": {tooMuch, "", nil, nil, ""},
		"too much, and what is taken is written": {tooMuch + "; echo a=1 >>$SALVE_OUTPUT", "", []string{"a"},
			map[string]rollout.Output{"a": {Value: "1"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var fields []string
			if row.outputs != "" {
				fields = append(fields, row.outputs)
			}
			s := newShop(t, row.script, fields...)
			s.attempt.Wanted = row.wanted
			outcome := s.run()
			if row.unread != "" {
				if outcome.Unread == nil || !strings.Contains(outcome.Unread.Error(), row.unread) || outcome.Outputs != nil {
					t.Errorf("%+v", outcome)
				}
				return
			}
			if outcome.Result != journal.Done || !maps.Equal(outcome.Outputs, row.want) {
				t.Errorf("%s: handed on %v", outcome.Result, outcome.Outputs)
			}
		})
	}
}

// TestWhatAnObserveCommandSaysIsNotWhatItsStepSaid: nobody takes it for that without a word of the step.
func TestWhatAnObserveCommandSaysIsNotWhatItsStepSaid(t *testing.T) {
	s := newShop(t, "true", "observe: echo it is there")
	s.attempt.Wanted = []string{"anything", "stdout"}
	if outcome := s.action.Observe(t.Context(), s.attempt); outcome.Result != journal.Done || len(outcome.Outputs) > 0 {
		t.Errorf("%+v", outcome)
	}
}
