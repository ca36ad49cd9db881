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

// ledger is what holds, and what was told of it.
//
// What gets worse is told at once. What gets better is told when it has stayed so for the time of settle, and what a
// poll says so when the next one says it too: an input that comes and goes has one line, not one for each time.
type ledger struct {
	settle time.Duration
	// findings are what held at last.
	findings map[finding.Identity]finding.Finding
	told     map[finding.Identity]*toldFinding
	blind    map[string]*toldBlind
}

// toldFinding is a finding as it was told.
type toldFinding struct {
	finding.Finding
	better better
	// worst is how bad it was at worst since it has been better; empty for not at all.
	worst finding.Severity
}

// toldBlind is a rule that was told to lack an input.
type toldBlind struct {
	reason string
	at     time.Time
	better better
}

// better is since when something has been better than was told.
type better struct {
	since time.Time
	round int
}

func (b better) is() bool { return !b.since.IsZero() }

// moment is when rules were asked. rounds are the polls that were made, for the rules that are polled.
type moment struct {
	at     time.Time
	rounds map[string]int
}

// settled tells whether what is better has stayed so. It has been from now on at the latest.
func (b *better) settled(rule string, now moment, settle time.Duration) bool {
	if !b.is() {
		*b = better{now.at, now.rounds[rule]}
	}
	_, polled := now.rounds[rule]
	return now.at.Sub(b.since) >= settle && (settle == 0 || !polled || now.rounds[rule] > b.round)
}

// update finds out what has changed. Findings of rules that could not be asked stay in the report as they were.
func (l *ledger) update(report *Report, blind map[string]bool, rounds map[string]int) {
	now := map[finding.Identity]finding.Finding{}
	for _, f := range report.Findings {
		now[f.Identity()] = f
	}
	for identity, before := range l.findings {
		if _, still := now[identity]; !still && blind[identity.Rule] {
			now[identity] = before
			report.Findings = append(report.Findings, before)
		}
	}
	report.Findings.Sort()
	l.findings = now
	at := moment{report.At, rounds}
	l.changes(report, at)
	l.verdicts(report, at)
	slices.SortStableFunc(report.Changes, func(a, b Change) int { return order(a) - order(b) })
}

// changes are those of findings.
func (l *ledger) changes(report *Report, at moment) {
	if l.told == nil {
		l.told = map[finding.Identity]*toldFinding{}
	}
	var gone finding.List
	for identity, told := range l.told {
		if _, still := l.findings[identity]; !still && told.better.settled(identity.Rule, at, l.settle) && told.worst == "" {
			gone = append(gone, told.Finding)
			delete(l.told, identity)
		}
	}
	gone.Sort()
	for _, f := range gone {
		report.Changes = append(report.Changes, Change{What: Cleared, Finding: f, Was: f.Severity})
	}
	for _, f := range report.Findings {
		told, known := l.told[f.Identity()]
		switch {
		case !known:
			l.told[f.Identity()] = &toldFinding{Finding: f}
			report.Changes = append(report.Changes, Change{What: Appeared, Finding: f})
		case !told.Severity.AtLeast(f.Severity):
			report.Changes = append(report.Changes, Change{What: Worsened, Finding: f, Was: told.Severity})
			*told = toldFinding{Finding: f}
		case told.Severity == f.Severity:
			*told = toldFinding{Finding: f}
		case told.worst == "" || !told.worst.AtLeast(f.Severity):
			told.worst = f.Severity
		}
	}
	l.eased(report, at)
}

// eased are findings that have been less bad for long enough: they are as bad as they were at worst meanwhile.
func (l *ledger) eased(report *Report, at moment) {
	var eased finding.List
	was := map[finding.Identity]finding.Severity{}
	for identity, told := range l.told {
		if told.worst == "" || !told.better.settled(identity.Rule, at, l.settle) {
			continue
		}
		f, there := l.findings[identity]
		if !there {
			f = told.Finding
		}
		was[identity], f.Severity = told.Severity, told.worst
		*told = toldFinding{Finding: f}
		eased = append(eased, f)
	}
	eased.Sort()
	for _, f := range eased {
		report.Changes = append(report.Changes, Change{What: Eased, Finding: f, Was: was[f.Identity()]})
	}
}

// verdicts counts what was found again, with what stayed, and finds out which rules lack an input.
func (l *ledger) verdicts(report *Report, at moment) {
	if l.blind == nil {
		l.blind = map[string]*toldBlind{}
	}
	for i := range report.Verdicts {
		verdict := &report.Verdicts[i]
		recount(verdict, report.Findings)
		told, was := l.blind[verdict.Rule]
		switch {
		case verdict.Reason == "":
			if was && told.better.settled(verdict.Rule, at, l.settle) {
				delete(l.blind, verdict.Rule)
				report.Changes = append(report.Changes, Change{What: Sighted, Verdict: *verdict})
			}
		case was && (verdict.Reason == told.reason || at.at.Sub(told.at) < sameReason):
			told.better = better{}
		default:
			l.blind[verdict.Rule] = &toldBlind{reason: verdict.Reason, at: at.at}
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
