package report

import (
	"fmt"
	"io"
	"regexp"

	"salve/runbook"
)

// shownValue is how many characters of an evidence's value a table shows; JSON
// documents and explanations have all of it.
const shownValue = 120

// Findings writes a table of findings: guard, answer, reason, and the evidence
// below. Lines are wrapped at width columns; 0 is no limit.
func Findings(out io.Writer, width int, findings []runbook.Finding) error {
	s := &textWriter{width: width}
	s.findings("", findings, shownValue)
	return s.flush(out)
}

func (s *textWriter) findings(indent string, findings []runbook.Finding, shown int) {
	var names []string
	for _, finding := range findings {
		names = append(names, finding.Guard)
	}
	guard, answer := widest(len("GUARD"), names...), len(runbook.AnswerDoesNotHold)
	s.paint(Faint, "GUARD")
	s.line("%s  %s  %s  REASON", indent, pad("GUARD", guard), pad("ANSWER", answer))
	for _, finding := range findings {
		s.paint(answerTone(finding), mark(finding))
		s.hang(fmt.Sprintf("%s%s %s  %s  ", indent, mark(finding), pad(finding.Guard, guard),
			pad(string(finding.Answer), answer)), finding.Reason)
		if finding.Override != "" {
			s.hang(indent+"    overridden: ", finding.Override)
		}
		for _, evidence := range finding.Evidence {
			s.evidence(indent+"    ", evidence, shown)
		}
	}
}

// mark is a finding's answer in one character; an overridden finding shows that
// it was passed over.
func mark(finding runbook.Finding) string {
	switch {
	case finding.Answer == runbook.AnswerHolds:
		return "✓"
	case finding.Passes():
		return "!"
	case finding.Answer == runbook.AnswerDoesNotHold:
		return "✗"
	default:
		return "?"
	}
}

// evidence writes a fact. In a table, where shown is above 0, value and IDs are
// shortened.
func (s *textWriter) evidence(indent string, evidence runbook.Evidence, shown int) {
	where := evidence.Source
	if evidence.Identity != "" {
		where += " " + evidence.Identity
	}
	if shown > 0 {
		where = resourceID.ReplaceAllString(where, "$1")
	}
	s.hang(indent+"seen ", fmt.Sprintf("%s in %s: %s", evidence.Seen.UTC().Format("15:04:05"), where,
		shorten(string(evidence.Value), shown)))
}

// resourceID is an ARM resource ID; its last two parts are enough for a reader
// who knows the cluster.
var resourceID = regexp.MustCompile(`/subscriptions/\S+/([^/\s]+/[^/\s]+)`)
