package decision

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/cause"
)

// Examined is what was counted in the scenarios with some thresholds.
type Examined struct {
	// With are the thresholds that take part in it.
	With   map[string]float64 `json:"with"`
	Groups []ExaminedGroup    `json:"groups"`
}

// ExaminedGroup is what was counted for one group.
type ExaminedGroup struct {
	Ways    []int        `json:"ways"` // positions in Observed.Ways, of which the first names the group
	Cause   triage.Cause `json:"cause"`
	Unknown []string     `json:"unknown"` // attributes that too many scenarios lack
	// Classes are the scenarios of the causes, Outside all others, by whether they run what the change touches.
	Classes []alternative.Stratum `json:"classes"`
	Outside alternative.Stratum   `json:"outside"`
	// MayReach are scenarios that may run what the change touches, without those of a place that is a cause.
	MayReach Share `json:"mayReach"`
	// Confined is a place where nearly all failures ran, and hardly anything that could pass without the change.
	Confined string `json:"confined"`
}

// Share is how many of some scenarios failed.
type Share struct {
	Failed int `json:"failed"`
	Of     int `json:"of"`
}

// Examine puts ways together to groups, looks for their causes, and counts what the alternative asks for.
func Examine(o Observed, t triage.Thresholds) (*Examined, error) {
	if len(o.Ways) == 0 {
		return &Examined{With: examining(t), Groups: []ExaminedGroup{}}, nil
	}
	if o.Scenarios == nil {
		return nil, lacks("the scenarios (%s)", o.Omitted)
	}
	if o.Scenarios.hasRare() && o.Scenarios.takesRare(t) {
		return nil, lacks("values that fewer than %d scenarios have", o.Scenarios.RareBelow)
	}
	groups := unite(o, t)
	groupOf := make([]cause.Outcome, len(o.Ways))
	for i, ways := range groups {
		for _, way := range ways {
			groupOf[way] = cause.Outcome(i + 1)
		}
	}
	scenarios := o.Scenarios.expand(groupOf)
	found, err := cause.Find(&scenarios.rows, t)
	if err != nil {
		return nil, fmt.Errorf("looking for causes: %w", err)
	}
	x := &Examined{With: examining(t), Groups: []ExaminedGroup{}}
	for i, ways := range groups {
		g := ExaminedGroup{Ways: ways, Cause: found[i].Cause, Unknown: found[i].Unknown}
		if o.changed() {
			g.count(&scenarios, cause.Outcome(i+1), &found[i])
			g.Confined = confined(&scenarios, cause.Outcome(i+1), t)
		}
		x.Groups = append(x.Groups, g)
	}
	return x, nil
}

// examining are the thresholds that take part in examining.
func examining(t triage.Thresholds) map[string]float64 {
	with := map[string]float64{}
	values := t.Values()
	for _, name := range []string{
		"eligible", "same-value", "unknown", "false-discovery", "risk-ratio", "cause-failures", "small-cause-failures",
		"cause-coverage", "alias", "causes", "unexplained", "coarser", "known-coverage", "signature-passing",
	} {
		with[name] = values[name]
	}
	return with
}

// changed says whether there is a change under test.
func (o Observed) changed() bool { return o.Change != nil && o.Change.Files > 0 }

// count counts the scenarios of the causes, and all others.
func (g *ExaminedGroup) count(scenarios *expanded, number cause.Outcome, found *cause.Found) {
	g.Classes = make([]alternative.Stratum, len(g.Cause.Candidates))
	for i, c := range g.Cause.Candidates {
		g.Classes[i].Label = label(c)
	}
	located := environment(g.Cause)
	for row, outcome := range scenarios.rows.Outcomes {
		if outcome != cause.Passed && outcome != number {
			continue
		}
		failed, reach, class := outcome != cause.Passed, scenarios.reach[row], found.Of(row)
		stratum := &g.Outside
		if class >= 0 {
			stratum = &g.Classes[class]
		}
		if reach != No && (class < 0 || !located) {
			g.MayReach.Of++
			g.MayReach.Failed += one(failed)
		}
		stratum.Add(reach.String(), failed)
	}
}

func (r Reach) String() string {
	switch r {
	case Yes:
		return "yes"
	case No:
		return "no"
	default:
		return "unknown"
	}
}

// confined is the place where nearly all of a group's failures ran, of which that is known, and hardly any scenario
// that doesn't run through the change passed; empty for none.
func confined(scenarios *expanded, number cause.Outcome, t triage.Thresholds) string {
	rows := &scenarios.rows
	for i, attribute := range rows.Attributes {
		if !surroundings(attribute.Name) {
			continue
		}
		failed := make(map[uint32]int)
		most, known := uint32(0), 0
		for row, outcome := range rows.Outcomes {
			value := rows.Values[i][row]
			if outcome != number || value == 0 {
				continue // of another group, or it may have run there as well
			}
			known++
			if failed[value]++; failed[value] > failed[most] || failed[value] == failed[most] && value < most {
				most = value
			}
		}
		if most == 0 || float64(failed[most]) < t.KnownCoverage*float64(known) {
			continue
		}
		spared := 0
		for row, outcome := range rows.Outcomes {
			spared += one(outcome == cause.Passed && rows.Values[i][row] == most && scenarios.reach[row] == No)
		}
		if spared < t.EligibleRows {
			return attribute.Name + "=" + attribute.Values[most]
		}
	}
	return ""
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

func label(c triage.Candidate) string {
	if c.Value == "" {
		return "an unknown " + c.Attribute
	}
	return c.Attribute + "=" + c.Value
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
