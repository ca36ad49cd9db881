package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/cause"
	"salve/internal/triage/change"
	"salve/internal/triage/scenario"
	"salve/internal/triage/verdict"
)

const (
	maxScenarios = 20 // of a group that are named
	maxEvidence  = 12
)

// group is one group as the document has it.
func (a *analysis) group(number int) (triage.Group, error) {
	group, found := &a.run.Groups[number], &a.found[number]
	g := triage.Group{
		Key: string(group.Key), Message: group.Message, Frame: group.Frame, Place: group.Place,
		Failures: len(group.Rows), Tests: a.tests(group), Scenarios: a.names(group, maxScenarios),
		Example: group.Example, Flakiness: group.Flakiness(),
		Signatures: a.signatures(group), Cause: found.Cause,
	}
	prior, err := a.prior(group, a.decisive(g), group.Rows)
	if err != nil {
		return g, err
	}
	g.Baseline = a.baseline(prior)
	question, err := a.question(group, found, prior, a.decisive(g))
	if err != nil {
		return g, err
	}
	g.Alternative = alternative.Evaluate(question, a.Thresholds)
	g.Evidence = a.evidence(group, g)
	if g.Occurrences, err = a.occurrences(g); err != nil {
		return g, err
	}
	decision := verdict.Decide(verdict.Facts{
		Failures: g.Failures, Scenario: g.Example.Scenario, Place: g.Place,
		Cause: g.Cause, Unknown: found.Unknown, Environment: environment(g.Cause),
		Alternative: g.Alternative, Tested: alternative.Tested(question, a.Thresholds), Signatures: g.Signatures,
		Baseline: g.Baseline, Flakiness: g.Flakiness,
		Producers: producers(g.Evidence), Occurrences: g.Occurrences, Passing: a.run.Counts.Passed,
	}, a.Thresholds)
	g.Verdict, g.Confidence, g.Reasons = decision.Verdict, decision.Confidence, decision.Reasons
	g.WouldChange, g.Action = decision.WouldChange, decision.Action
	return g, nil
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

// outcome is the group's number in the rows.
func (a *analysis) outcome(group *scenario.Group) cause.Outcome {
	return a.rows.Outcomes[group.Rows[0]]
}

// touches says whether a file of the source is one of the change, or of a component that it touches.
func (a *analysis) touches(file string) bool {
	if file == "" {
		return false
	}
	return a.Change.Touches(file) || slices.ContainsFunc(a.touched, func(c change.Component) bool { return c.Owns(file) })
}

func label(c triage.Candidate) string {
	if c.Value == "" {
		return "an unknown " + c.Attribute
	}
	return c.Attribute + "=" + c.Value
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

// producers are those of the evidence, each once.
func producers(evidence []triage.Evidence) []string {
	var out []string
	for _, e := range evidence {
		if !slices.Contains(out, e.Producer) {
			out = append(out, e.Producer)
		}
	}
	return out
}

// environment says whether the causes are where scenarios ran. A name that can't be told apart from what they test is
// not.
func environment(c triage.Cause) bool {
	for _, candidate := range c.Candidates {
		if !surroundings(candidate.Attribute) {
			return false
		}
		for _, alias := range candidate.Aliases {
			name, _, _ := strings.Cut(alias, "=")
			if !surroundings(strings.TrimSuffix(name, " unknown")) {
				return false
			}
		}
	}
	return len(c.Candidates) > 0
}

// surroundings says whether an attribute is of the place where scenarios run, by the last word of its name.
func surroundings(attribute string) bool {
	words := strings.FieldsFunc(strings.ToLower(attribute), func(r rune) bool { return strings.ContainsRune("._-/ :", r) })
	if len(words) == 0 {
		return false
	}
	return slices.Contains([]string{
		"cluster", "region", "zone", "location", "datacenter", "pool", "nodepool", "node", "host", "hostname", "runner",
		"agent", "machine", "subscription", "account", "network", "shard", "site",
	}, words[len(words)-1])
}

// order sorts the groups, and counts what the tables of the document show by group in that order.
func (a *analysis) order(d *triage.Document) {
	numbers := make([]int, len(d.Groups))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortStableFunc(numbers, func(x, y int) int {
		gx, gy := &d.Groups[x], &d.Groups[y]
		return cmp.Or(cmp.Compare(urgency(gy.Verdict), urgency(gx.Verdict)), cmp.Compare(gy.Failures, gx.Failures))
	})
	sorted := make([]triage.Group, len(numbers))
	place := make([]int, len(numbers))
	for to, from := range numbers {
		sorted[to], place[from] = d.Groups[from], to
	}
	d.Groups = sorted
	a.omit(d, place)
	d.Heat, d.Timeline = a.heat(place, len(d.Groups)), a.timeline(place, len(d.Groups))
}

// urgency puts first what may be the change's or nobody has seen before; all else goes by its failures.
func urgency(v triage.Verdict) int {
	switch v {
	case triage.SuspectedChange:
		return 2
	case triage.New:
		return 1
	default:
		return 0
	}
}

const maxGroups = 200

// omit leaves out the last groups of very many: the document says how many.
func (a *analysis) omit(d *triage.Document, place []int) {
	if len(d.Groups) <= maxGroups {
		return
	}
	d.Omitted = len(d.Groups) - maxGroups
	d.Groups = d.Groups[:maxGroups]
	for i, at := range place {
		if at >= maxGroups {
			place[i] = -1
		}
	}
	d.Notes = append(d.Notes,
		fmt.Sprintf("%d groups more are left out: of those with the best verdicts, the smallest", d.Omitted))
}
