package postmortem

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

func (r *runStory) evaluated(evaluation journal.Evaluation) {
	if !r.options.within(r.entry.At) {
		r.outside++
		return
	}
	holding := 0
	for _, finding := range evaluation.Findings {
		r.readiness(finding)
		if finding.Answer == runbook.AnswerHolds {
			holding++
			r.holds(finding)
			continue
		}
		r.stopped(evaluation, finding)
	}
	purpose := "at the start"
	if step, found := strings.CutPrefix(evaluation.For, "step "); found {
		purpose = "before step " + step
	}
	says := "holds"
	if holding != 1 {
		says = "hold"
	}
	what := fmt.Sprintf("guards %s: %d of %d %s", purpose, holding, len(evaluation.Findings), says)
	kind := Decided
	if evaluation.For == "checks" {
		kind, what = Checked, fmt.Sprintf("final checks: %d of %d %s", holding, len(evaluation.Findings), says)
	}
	decided := evaluation.Decision.Outcome != ""
	if decided {
		what += fmt.Sprintf("; decided %s", evaluation.Decision.Outcome)
	}
	r.tell(kind, kind == Checked || evaluation.For == "start", "%s", what)
}

// stopped takes a finding that does not hold, or could not be made.
func (r *runStory) stopped(evaluation journal.Evaluation, finding runbook.Finding) {
	says := "does not hold"
	if finding.Answer == runbook.AnswerUnknown {
		says = "is unknown"
	}
	guard := "guard " + finding.Guard
	if evaluation.For == "checks" {
		guard = "check " + finding.Guard
	}
	one := r.mention("%s of run %s %s: %s", guard, r.run.Run, says, finding.Reason)
	kind := Refused
	switch {
	case finding.Override != "" && !finding.Locked:
		kind = Overridden
		r.tell(kind, true, "%s %s: %s; overridden: %s", guard, says, finding.Reason, finding.Override)
	default:
		r.tell(kind, true, "%s %s: %s", guard, says, finding.Reason)
	}
	r.collect(kind, finding, one)
	r.guards = appendGuard(r.guards, GuardFinding{
		At: r.entry.At.UTC(), Guard: clean(finding.Guard, eventRoom), For: clean(evaluation.For, eventRoom),
		Answer: finding.Answer, Reason: clean(finding.Reason, itemRoom), Override: clean(finding.Override, itemRoom),
		Outcome: evaluation.Decision.Outcome, Evidence: shown(finding.Evidence), Source: r.source(), Count: 1,
	})
}

func (r *runStory) collect(kind EventKind, finding runbook.Finding, one mention) {
	if kind == Overridden {
		return // told with who gave the reason
	}
	if finding.Answer == runbook.AnswerUnknown {
		r.facts.unknowns = appendMention(r.facts.unknowns, one)
		return
	}
	r.facts.refusals = appendMention(r.facts.refusals, one)
	r.counted(finding)
}

// overridden tells of guards that a person passed over, by name.
func (r *runStory) overridden(overrides map[string]string, holder journal.Holder) {
	for _, guard := range slices.Sorted(maps.Keys(overrides)) {
		text := fmt.Sprintf("%s overrode guard %s: %s", report.Person(holder), guard, overrides[guard])
		if r.tell(Overridden, true, "%s", text) {
			r.facts.overrides = append(r.facts.overrides, r.mention("%s", text))
		}
	}
}

// holds counts what held, and keeps the queries behind it.
func (r *runStory) holds(finding runbook.Finding) {
	guard := clean(finding.Guard, eventRoom)
	same := func(h HeldGuard) bool { return h.Guard == guard && h.Run == r.run.Run }
	r.counted(finding)
	if i := slices.IndexFunc(r.held, same); i >= 0 {
		r.held[i].Times++
		r.held[i].Reason, r.held[i].Source = clean(finding.Reason, eventRoom), r.source()
		return
	}
	r.held = append(r.held, HeldGuard{Guard: guard, Run: r.run.Run, Times: 1,
		Reason: clean(finding.Reason, eventRoom), Queries: queries(finding.Evidence), Source: r.source()})
}

// counted keeps a finding that counts harm, with the query that counted; the newest of each guard.
func (r *runStory) counted(finding runbook.Finding) {
	by := queries(finding.Evidence)
	if len(by) == 0 || !harms(finding.Reason) {
		return
	}
	one := r.mention("%s: %s (counted by: %s)", finding.Guard, finding.Reason, strings.Join(by, "; "))
	one.command = finding.Guard
	same := func(m mention) bool { return m.run == one.run && m.command == one.command }
	if i := slices.IndexFunc(r.facts.counts, same); i >= 0 {
		r.facts.counts[i] = one
		return
	}
	r.facts.counts = append(r.facts.counts, one)
}

func queries(evidence []runbook.Evidence) []string {
	var sources []string
	for _, one := range evidence {
		if source := clean(one.Source, eventRoom); !slices.Contains(sources, source) && len(sources) < 5 {
			sources = append(sources, source)
		}
	}
	return sources
}

// lately is how far back it is looked for what was said before.
const lately = 32

func shown(evidence []runbook.Evidence) []Evidence {
	var all []Evidence
	for _, one := range evidence[:min(len(evidence), 10)] {
		all = append(all, Evidence{Query: clean(one.Source, eventRoom), Identity: clean(one.Identity, eventRoom),
			Seen: one.Seen.UTC(), Value: clean(string(one.Value), valueRoom)})
	}
	return all
}

// appendGuard counts a finding that says what the same guard said before.
func appendGuard(all []GuardFinding, next GuardFinding) []GuardFinding {
	for i := len(all) - 1; i >= max(0, len(all)-lately); i-- {
		before := &all[i]
		if before.Guard == next.Guard && before.For == next.For && before.Reason == next.Reason &&
			before.Source.Of == next.Source.Of && before.Override == next.Override {
			before.Count++
			return all
		}
	}
	return append(all, next)
}

// appendMention counts what was said before, lately.
func appendMention(all []mention, next mention) []mention {
	for i := len(all) - 1; i >= max(0, len(all)-lately); i-- {
		if all[i].text == next.text {
			all[i].count = max(all[i].count, 1) + 1
			return all
		}
	}
	return append(all, next)
}
