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
		case finding.Answer == runbook.AnswerUnknown && posture == runbook.FailOpen:
			verdict.Outcome = runbook.NothingToDo
			verdict.Reason += " (fail-open: the caller is not blocked)"
		case finding.Answer == runbook.AnswerUnknown:
			verdict.Outcome = runbook.Undecided
		case finding.Outcome.Successful():
			verdict.Outcome = runbook.Undecided
			verdict.Reason += fmt.Sprintf(" (invalid: a guard can't end a run as %s)", finding.Outcome)
		case finding.Outcome != "":
			verdict.Outcome = finding.Outcome
		default:
			verdict.Outcome = runbook.NothingToDo
		}
		return verdict
	}
	return journal.Verdict{}
}

func inWords(answer runbook.Answer) string {
	switch answer {
	case runbook.AnswerHolds:
		return "holds"
	case runbook.AnswerDoesNotHold:
		return "does not hold"
	default:
		return "is unknown"
	}
}
