package engine

import (
	"fmt"

	"salve/journal"
	"salve/runbook"
)

// Decide says what follows from findings: an empty outcome lets the run go on.
// It is a pure function of what the journal holds, so that a past decision can
// be made again from the record alone.
func Decide(posture runbook.Posture, findings []runbook.Finding) journal.Verdict {
	for _, finding := range findings {
		if finding.Passes() {
			continue
		}
		verdict := journal.Verdict{Reason: fmt.Sprintf("%s %s: %s", finding.Guard, inWords(finding.Answer), finding.Reason)}
		switch {
		case finding.Answer == runbook.Unknown && posture == runbook.FailOpen:
			verdict.Outcome = runbook.NothingToDo
			verdict.Reason += " (fail-open: the caller is not blocked)"
		case finding.Answer == runbook.Unknown:
			verdict.Outcome = runbook.Undecided
		case finding.Ends != "":
			verdict.Outcome = finding.Ends
		default:
			verdict.Outcome = runbook.NothingToDo
		}
		return verdict
	}
	return journal.Verdict{}
}

func inWords(answer runbook.Answer) string {
	switch answer {
	case runbook.Holds:
		return "holds"
	case runbook.DoesNotHold:
		return "does not hold"
	default:
		return "is unknown"
	}
}
