package watch

import (
	"slices"
	"time"

	"salve/internal/prow/finding"
)

// What a change is.
const (
	Appeared = "new"
	Worsened = "worse"
	Eased    = "better"
	Cleared  = "gone"
	// Blinded is a rule that lacks an input from now on, Sighted one that doesn't any more.
	Blinded = "blind"
	Sighted = "sees"
)

// Change is one change between two moments.
type Change struct {
	What string
	// Finding is the one that the change is about, and Was its severity before.
	Finding finding.Finding
	Was     finding.Severity
	// Verdict is that of a rule that was Blinded or Sighted.
	Verdict finding.Verdict
}

// sameReason is how long a rule that stays blind may be so for other reasons before they are told: messages of errors
// change with each attempt.
const sameReason = time.Minute

// ledger is what was told.
type ledger struct {
	findings map[finding.Identity]finding.Finding
	blind    map[string]told
}

type told struct {
	reason string
	at     time.Time
}

// update finds out what has changed. Findings of rules that could not be asked stay in the report as they were.
func (l *ledger) update(report *Report, blind map[string]bool) {
	now := map[finding.Identity]finding.Finding{}
	for _, f := range report.Findings {
		now[f.Identity()] = f
	}
	var gone finding.List
	for identity, before := range l.findings {
		if _, still := now[identity]; still {
			continue
		}
		if blind[identity.Rule] {
			now[identity] = before
			report.Findings = append(report.Findings, before)
			continue
		}
		gone = append(gone, before)
	}
	gone.Sort()
	for _, f := range gone {
		report.Changes = append(report.Changes, Change{What: Cleared, Finding: f, Was: f.Severity})
	}
	report.Findings.Sort()
	for _, f := range report.Findings {
		switch before, known := l.findings[f.Identity()]; {
		case !known:
			report.Changes = append(report.Changes, Change{What: Appeared, Finding: f})
		case before.Severity == f.Severity:
		case f.Severity.AtLeast(before.Severity):
			report.Changes = append(report.Changes, Change{What: Worsened, Finding: f, Was: before.Severity})
		default:
			report.Changes = append(report.Changes, Change{What: Eased, Finding: f, Was: before.Severity})
		}
	}
	l.findings = now
	l.verdicts(report)
	slices.SortStableFunc(report.Changes, func(a, b Change) int { return order(a) - order(b) })
}

// verdicts counts what was found again, with what stayed, and finds out which rules lack an input.
func (l *ledger) verdicts(report *Report) {
	if l.blind == nil {
		l.blind = map[string]told{}
	}
	for i := range report.Verdicts {
		verdict := &report.Verdicts[i]
		recount(verdict, report.Findings)
		before, was := l.blind[verdict.Rule]
		switch {
		case verdict.Reason == "" && was:
			delete(l.blind, verdict.Rule)
			report.Changes = append(report.Changes, Change{What: Sighted, Verdict: *verdict})
		case verdict.Reason == "" || was && verdict.Reason == before.reason:
		case !was || report.At.Sub(before.at) >= sameReason:
			l.blind[verdict.Rule] = told{verdict.Reason, report.At}
			report.Changes = append(report.Changes, Change{What: Blinded, Verdict: *verdict})
		}
	}
}

// recount has a verdict count the findings that stayed.
func recount(verdict *finding.Verdict, all finding.List) {
	verdict.Findings = 0
	for _, f := range all {
		if f.Rule == verdict.Rule {
			verdict.Findings++
			if f.Severity.AtLeast(verdict.Severity) {
				verdict.Severity = f.Severity
			}
		}
	}
}

// order has what is better last.
func order(c Change) int {
	if c.What == Cleared || c.What == Eased {
		return 1
	}
	return 0
}
