package engine_test

import (
	"strings"
	"testing"

	"salve/runbook"
)

// TestRunThatStaysOpenSaysHowFarItIs in the reason of its outcome.
func TestRunThatStaysOpenSaysHowFarItIs(t *testing.T) {
	for name, row := range map[string]struct {
		steps string // "!" fails, "-" is skipped
		want  string
	}{
		"one step":         {steps: "a", want: "its only step is done"},
		"all":              {steps: "a b c", want: "all 3 steps are done"},
		"one is skipped":   {steps: "a -b c", want: "2 of 3 steps are done, b was skipped"},
		"some are skipped": {steps: "-a -b c", want: "1 of 3 steps are done, 2 were skipped: a, b"},
		"many are skipped": {steps: "-a -b -c -d -e -f -g h",
			want: "1 of 8 steps are done, 7 were skipped: a, b, c, d, e and 2 more"},
		"five are skipped": {steps: "-a -b -c -d -e f", want: "1 of 6 steps are done, 5 were skipped: a, b, c, d, e"},
		"one failed":       {steps: "a !b c", want: "step b: stuck; 1 of 3 steps are done; not done: b; not begun: c"},
		"the last failed":  {steps: "a -b !c", want: "step c: stuck; 1 of 3 steps are done, b was skipped; not done: c"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				var steps []runbook.Step
				before := []string{}
				for word := range strings.FieldsSeq(row.steps) {
					step := s.step(strings.Trim(word, "!-"), before...)
					if strings.HasPrefix(word, "-") {
						step.Skip = "not today"
					}
					if strings.HasPrefix(word, "!") {
						s.fails[step.Name] = []error{errStuck}
					}
					steps, before = append(steps, step), []string{step.Name}
				}
				if result := b.run(s.book(1, steps...)); result.Reason != row.want {
					t.Errorf("says %q, want %q", result.Reason, row.want)
				}
			})
		})
	}
}
