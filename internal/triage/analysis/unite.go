package analysis

import (
	"slices"

	"salve/internal/triage"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/scenario"
)

// unite puts groups together whose failure texts one signature knows: what only a name tells apart, such as that of a
// pod, is one failure. A signature that other files show says something of the scenarios, and not that they failed so.
func (a *analysis) unite() {
	first := map[string]int{} // the largest group of a signature
	moved := false
	groups := a.run.Groups
	for i := range groups {
		g := triage.Group{Failures: len(groups[i].Rows), Signatures: a.signatures(&groups[i])}
		decisive := a.decisive(g)
		if decisive == nil || !a.inText(decisive.ID, &groups[i]) {
			continue
		}
		into, known := first[decisive.ID]
		if !known {
			first[decisive.ID] = i
			continue
		}
		moved = true
		groups[into].Rows = append(groups[into].Rows, groups[i].Rows...)
		groups[into].Recovered += groups[i].Recovered
		groups[into].Insisted += groups[i].Insisted
		groups[i].Rows = nil
	}
	if !moved {
		return
	}
	groups = slices.DeleteFunc(groups, func(g scenario.Group) bool { return len(g.Rows) == 0 })
	slices.SortStableFunc(groups, func(x, y scenario.Group) int { return len(y.Rows) - len(x.Rows) })
	for i := range groups {
		slices.Sort(groups[i].Rows)
		for _, row := range groups[i].Rows {
			a.run.Scenarios[row].Group = i
		}
	}
	a.run.Groups = groups
}

// inText says whether nearly all failures of a group show a signature in their own texts.
func (a *analysis) inText(id string, group *scenario.Group) bool {
	shown := 0
	for _, row := range group.Rows {
		shown += one(slices.ContainsFunc(a.shown[row], func(h catalogue.Hit) bool {
			return h.Signature.ID == id && h.Decides() && h.Producer == catalogue.DefaultProducer &&
				h.First.File == a.run.Scenarios[row].Origin.File
		}))
	}
	return float64(shown) >= a.Thresholds.KnownCoverage*float64(len(group.Rows))
}
