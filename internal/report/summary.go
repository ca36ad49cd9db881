package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"salve/journal"
	"salve/runbook"
)

const (
	// shownDecisions bounds the decisions to go on that a summary has, so that it fits on a screen.
	shownDecisions = 12
	// shownReason bounds a reason in a summary, in characters.
	shownReason = 300
)

// Summarize writes why a run acted or not on one screen: a line for each decision to go on, and what was found where
// the decision was another one, or comes out different now. Explain has all of it.
func Summarize(out io.Writer, width int, history *journal.History) error {
	decisions, err := Decisions(history)
	if err != nil {
		return err
	}
	s := &textWriter{width: width}
	s.heading(history)
	for _, guard := range slices.Sorted(maps.Keys(history.Header.Overrides)) {
		s.hang("  override of "+guard+": ", history.Header.Overrides[guard])
	}
	s.line("")
	plain, left := 0, 0
	for _, decision := range decisions {
		switch {
		case decision.Evaluation.Decision.Outcome != "" || !decision.Same:
			s.exception(decision)
		case plain < shownDecisions:
			plain++
			s.hang(fmt.Sprintf("%s  %s: ", offset(seconds(decision.After)), asked(decision.Evaluation)),
				fmt.Sprintf("%s; decided: %s", holding(decision.Evaluation.Findings),
					decided(decision.Evaluation, decision.Evaluation.Decision)))
		default:
			left++
		}
	}
	if left > 0 {
		s.line("         %s more to go on.", Count(left, "decision", "decisions"))
	}
	s.line("")
	s.verdicts(history)
	return s.flush(out)
}

// exception is a decision that stopped something.
func (s *textWriter) exception(d Decision) {
	s.line("%s  %s: %s", offset(seconds(d.After)), asked(d.Evaluation), holding(d.Evaluation.Findings))
	for _, finding := range d.Evaluation.Findings {
		if finding.Passes() {
			continue
		}
		s.paint(answerTone(finding), mark(finding))
		s.hang(fmt.Sprintf("  %s %s %s  ", mark(finding), finding.Guard, finding.Answer),
			shorten(resourceID.ReplaceAllString(finding.Reason, "$1"), shownReason))
		for _, evidence := range finding.Evidence {
			s.evidence("      ", evidence, shownValue)
		}
	}
	if len(d.Evaluation.Missing) > 0 {
		s.hang("    not asked any more: ", strings.Join(d.Evaluation.Missing, ", "))
	}
	s.hang("  decided: ", decided(d.Evaluation, d.Evaluation.Decision))
	if !d.Same {
		s.paint(Bad, differs)
		s.line("  !! DIFFERENT when it is decided again from the record:")
		s.hang("  !! ", decided(d.Evaluation, d.Again))
	}
}

// holding counts the findings by their answers, and names those that were passed over.
func holding(findings []runbook.Finding) string {
	holds, passed := 0, []string{}
	for _, finding := range findings {
		switch {
		case finding.Answer == runbook.AnswerHolds:
			holds++
		case finding.Passes():
			passed = append(passed, finding.Guard)
		}
	}
	text := fmt.Sprintf("%d of %d hold", holds, len(findings))
	if len(passed) > 0 {
		text += "; passed over: " + strings.Join(passed, ", ")
	}
	return text
}
