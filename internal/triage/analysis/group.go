package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/change"
	"salve/internal/triage/decision"
	"salve/internal/triage/scenario"
)

const (
	maxScenarios = 20 // of a group that are named
	maxEvidence  = 12
)

// group is one group as the document has it.
func (a *analysis) group(group *scenario.Group, decided *decision.Group) triage.Group {
	g := triage.Group{
		Key: string(group.Key), Message: group.Message, Frame: group.Frame, Place: group.Place,
		Failures: len(group.Rows), Tests: a.tests(group), Scenarios: a.names(group, maxScenarios),
		Example: group.Example, Flakiness: decided.Flakiness, Signatures: decided.Signatures, Cause: decided.Cause,
		Alternative: decided.Alternative, Baseline: decided.Baseline, Occurrences: decided.Occurrences,
		Verdict: decided.Verdict, Confidence: decided.Confidence, Reasons: decided.Reasons,
		WouldChange: decided.WouldChange, Action: decided.Action,
	}
	g.Evidence = a.evidence(group, g)
	return g
}

func (a *analysis) tests(group *scenario.Group) int {
	seen := map[int]bool{}
	for _, row := range group.Rows {
		seen[a.run.Scenarios[row].Test] = true
	}
	return len(seen)
}

func (a *analysis) names(group *scenario.Group, n int) []string {
	var names []string
	for _, row := range group.Rows {
		names = append(names, a.run.Scenarios[row].Name)
	}
	slices.Sort(names)
	return first(names, n)
}

// touches says whether a file of the source is one of the change, or of a component that it touches.
func (a *analysis) touches(file string) bool {
	if file == "" {
		return false
	}
	return a.Change.Touches(file) || slices.ContainsFunc(a.touched, func(c change.Component) bool { return c.Owns(file) })
}

// evidence is what somebody wrote: the failure itself, a line of each producer that shows a signature, the history.
func (a *analysis) evidence(group *scenario.Group, g triage.Group) []triage.Evidence {
	out := []triage.Evidence{{
		Producer: catalogue.DefaultProducer, Text: cmp.Or(oneLine(group.Failure.Message), group.Message),
		File: group.Example.File, Line: group.Example.Line,
	}}
	add := func(hit catalogue.Hit) {
		known := func(e triage.Evidence) bool {
			return e.Producer == hit.Producer && strings.HasPrefix(e.Text, hit.Signature.ID+": ")
		}
		if hit.Decides() && hit.Text != "" && len(out) < maxEvidence && !slices.ContainsFunc(out, known) {
			out = append(out, triage.Evidence{Producer: hit.Producer, Text: hit.Signature.ID + ": " + hit.Text,
				File: hit.First.File, Line: hit.First.Line})
		}
	}
	for _, row := range group.Rows {
		for _, hit := range a.shown[row] {
			add(hit)
		}
	}
	for _, hit := range a.loose {
		if slices.ContainsFunc(g.Signatures, func(s triage.Signature) bool { return s.ID == hit.Signature.ID }) {
			add(hit)
		}
	}
	if g.Baseline.Seen > 0 {
		out = append(out, triage.Evidence{Producer: "history", Text: g.Baseline.Text})
	}
	return out
}

func oneLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const most = 300
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}

const maxGroups = 200

// omit counts the last groups of very many, which the document leaves out.
func (a *analysis) omit(d *triage.Document, place []int) {
	if d.Omitted = len(place) - len(d.Groups); d.Omitted == 0 {
		return
	}
	for i, at := range place {
		if at >= maxGroups {
			place[i] = -1
		}
	}
	d.Notes = append(d.Notes,
		fmt.Sprintf("%d groups more are left out: of those with the best verdicts, the smallest", d.Omitted))
}
