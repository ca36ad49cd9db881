package report_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"salve/internal/report"
)

// TestPlanOnANarrowTerminal: lines are broken between words, and only a word that is longer than the terminal is wide
// has a line that is too wide, without anything else in it.
func TestPlanOnANarrowTerminal(t *testing.T) {
	for _, width := range []int{40, 30, 20} {
		text := string(written(t, func(out *bytes.Buffer) error { return report.Plan(out, width, examplePlan()) }))
		for line := range strings.SplitSeq(text, "\n") {
			if utf8.RuneCountInString(line) > width && len(strings.Fields(line)) > 1 {
				t.Errorf("on %d columns: %q", width, line)
			}
		}
		for _, words := range []string{"from here on nothing is undone", examplePlan().Digest,
			examplePlan().Steps[0].Changes} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(words), " ")) {
				t.Errorf("on %d columns %q is missing:\n%s", width, words, text)
			}
		}
	}
}
