package change

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Map says which paths of the source belong to which component, and which scenarios run through it. Nil is no map.
type Map struct {
	Components []Component
	// Ignore are globs of files that no scenario runs, such as documents: they touch nothing, and are not missed.
	Ignore []string
}

// Component is a part of the source that scenarios run through, or don't.
type Component struct {
	Name string
	// Paths are globs of files: * within a name, ** over folders. ! takes files away that an earlier one has; the last
	// one that matches decides.
	Paths []string
	// Scenarios are globs of the names of those that run through the component.
	Scenarios []string
	// Where are values of attributes: a scenario that has, of each attribute, one of the values runs through it too.
	Where []Condition
	// Except are globs of scenarios that don't, whatever else matches.
	Except []string
}

// Condition is one attribute with the values of which it has to have one.
type Condition struct {
	Attribute string
	Values    []string
}

// Reach says whether a scenario runs through what was changed.
type Reach string

// Unknown is neither: a scenario of which nobody knows can't speak for or against a change.
const (
	Yes     Reach = "yes"
	No      Reach = "no"
	Unknown Reach = "unknown"
)

// Touched gives the components that a change touches, in the map's order, and its files that are of none and are not
// ignored. A renamed file is of the components of both its paths. Without a map every file is of none.
func (m *Map) Touched(c *Change) (touched []Component, unmapped []string) {
	if m == nil {
		m = &Map{}
	}
	hit := make([]bool, len(m.Components))
	for _, f := range c.Files {
		paths := []string{f.Path}
		if f.Status == Renamed {
			paths = append(paths, f.OldPath)
		}
		for _, path := range paths {
			if !m.mark(path, hit) && !matches(m.Ignore, path) {
				unmapped = append(unmapped, path)
			}
		}
	}
	for i, component := range m.Components {
		if hit[i] {
			touched = append(touched, component)
		}
	}
	slices.Sort(unmapped)
	return touched, slices.Compact(unmapped)
}

// mark notes the components of a path, and is false if there are none.
func (m *Map) mark(path string, hit []bool) bool {
	owned := false
	for i, component := range m.Components {
		if component.Owns(path) {
			hit[i], owned = true, true
		}
	}
	return owned
}

// Owns says whether a file is one of the component.
func (c Component) Owns(path string) bool { return matches(c.Paths, path) }

// matches is whether the last glob that matches is one without !.
func matches(globs []string, path string) bool {
	for _, glob := range slices.Backward(globs) {
		positive, not := strings.CutPrefix(glob, "!")
		if doublestar.MatchUnvalidated(positive, path) {
			return !not
		}
	}
	return false
}

// Reach is whether a scenario runs through the component. attribute gives a scenario's values, false for what is not
// known of it. A component that says nothing of scenarios, or says only which are excepted, doesn't know of others.
func (c Component) Reach(scenario string, attribute func(name string) (string, bool)) Reach {
	switch {
	case matches(c.Except, scenario):
		return No
	case matches(c.Scenarios, scenario):
		return Yes
	case len(c.Where) > 0:
		return c.where(attribute)
	case len(c.Scenarios) > 0:
		return No
	}
	return Unknown
}

// Ruled says whether there are rules by which a scenario is said to run through the component.
func (c Component) Ruled() bool { return len(c.Scenarios)+len(c.Where) > 0 }

// where is No as soon as one attribute is known to be another, even if others are unknown.
func (c Component) where(attribute func(string) (string, bool)) Reach {
	reach := Yes
	for _, condition := range c.Where {
		value, known := attribute(condition.Attribute)
		switch {
		case !known:
			reach = Unknown
		case !slices.Contains(condition.Values, value):
			return No
		}
	}
	return reach
}

// ReachAny is whether a scenario runs through any part of a change, given as Touched does. Yes is Yes whatever else;
// No takes that all of the change is in components which the scenario doesn't run through. A change that touches
// nothing is Unknown.
func ReachAny(
	touched []Component, unmapped []string, scenario string, attribute func(name string) (string, bool),
) Reach {
	reach := No
	if len(unmapped) > 0 || len(touched) == 0 {
		reach = Unknown
	}
	for _, component := range touched {
		switch component.Reach(scenario, attribute) {
		case Yes:
			return Yes
		case Unknown:
			reach = Unknown
		case No:
		}
	}
	return reach
}
