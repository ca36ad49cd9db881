package analysis

import (
	"fmt"
	"maps"
	"slices"

	"salve/internal/triage"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/change"
	"salve/internal/triage/results"
	"salve/internal/triage/scenario"
)

// inspect asks the catalogue about each scenario: its attributes, and the signatures that it shows.
func (a *analysis) inspect() {
	a.attributes = make([][]results.Attribute, len(a.run.Scenarios))
	a.shown = make([][]catalogue.Hit, len(a.run.Scenarios))
	several := map[string]int{}
	for row := range a.run.Scenarios {
		s := &a.run.Scenarios[row]
		found := a.foundIn(s.Observations)
		told, ambiguous := a.Catalogue.Attributes(s.Name, found)
		a.attributes[row] = merge(s.Attributes, told)
		for _, attribute := range ambiguous {
			several[attribute.Name]++
		}
		a.shown[row] = a.Catalogue.Signatures(found, a.attributes[row], s.Place(), a.Now)
	}
	for _, name := range slices.Sorted(maps.Keys(several)) {
		a.run.Notes = append(a.run.Notes, fmt.Sprintf("%s tell of several values of %s: it counts as unknown for them",
			plural(several[name], "scenario"), name))
	}
	if len(a.run.Loose) > 0 {
		a.loose = a.Catalogue.Signatures(a.foundIn(a.run.Loose), nil, "", a.Now)
	}
}

// merge adds what the catalogue tells to what the results have as it stands, which goes first.
func merge(own, told []results.Attribute) []results.Attribute {
	all := slices.Clone(own)
	for _, attribute := range told {
		if !slices.ContainsFunc(own, func(o results.Attribute) bool { return o.Name == attribute.Name }) {
			all = append(all, attribute)
		}
	}
	return all
}

func (a *analysis) foundIn(observations []scenario.Observed) []catalogue.Found {
	var found []catalogue.Found
	for _, o := range observations {
		if o.Last {
			found = append(found, a.Catalogue.Found(results.Case{
				Origin: results.Place{File: o.File}, Observation: o.Observation,
			}))
		}
	}
	return found
}

// attribute is a scenario's value.
func (a *analysis) attribute(row int, name string) (string, bool) {
	i := slices.IndexFunc(a.attributes[row], func(x results.Attribute) bool { return x.Name == name })
	if i < 0 || a.attributes[row][i].Value == "" {
		return "", false
	}
	return a.attributes[row][i].Value, true
}

// reach asks of each scenario whether it runs through what the change touches.
func (a *analysis) reach() {
	a.reached = slices.Repeat([]change.Reach{change.Unknown}, len(a.run.Scenarios))
	if a.Change == nil || a.Map == nil {
		return
	}
	a.touched, a.unmapped = a.Map.Touched(a.Change)
	telling := a.telling()
	for row := range a.run.Scenarios {
		a.reached[row] = change.ReachAny(a.touched, a.unmapped, a.run.Scenarios[row].Name, a.attributesOf(row))
		if a.reached[row] == change.No && !telling {
			a.reached[row] = change.Unknown
		}
	}
}

func (a *analysis) attributesOf(row int) func(string) (string, bool) {
	return func(name string) (string, bool) { return a.attribute(row, name) }
}

// telling says whether the map can be believed where it says that a scenario doesn't run the change: of a component
// that no scenario of the run is said to run, the rules are more likely mistaken than the run without it.
func (a *analysis) telling() bool {
	all := true
	for _, component := range a.touched {
		if !component.Ruled() {
			continue
		}
		runs := false
		for row := 0; row < len(a.run.Scenarios) && !runs; row++ {
			runs = component.Reach(a.run.Scenarios[row].Name, a.attributesOf(row)) == change.Yes
		}
		if !runs {
			all = false
			a.problems = append(a.problems, fmt.Sprintf("map: no scenario of this run is said to run component %s: "+
				"check its rules (scenarios, where); which scenarios run the change counts as unknown", component.Name))
		}
	}
	return all
}

// change is what the document says of it.
func (a *analysis) change() *triage.Change {
	if a.Change == nil {
		return nil
	}
	c := &triage.Change{Files: len(a.Change.Files), Mapped: a.Map != nil, Unmapped: first(a.unmapped, 10)}
	for _, component := range a.touched {
		c.Components = append(c.Components, component.Name)
	}
	return c
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// each is one hit of each signature that was decided, whatever the producers.
func each(hits []catalogue.Hit) []catalogue.Hit {
	var out []catalogue.Hit
	for _, hit := range hits {
		same := func(h catalogue.Hit) bool { return h.Signature == hit.Signature }
		if len(hit.Unknown) == 0 && !slices.ContainsFunc(out, same) {
			out = append(out, hit)
		}
	}
	return out
}
