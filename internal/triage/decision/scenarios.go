package decision

import (
	"fmt"
	"slices"

	"salve/internal/triage"
	"salve/internal/triage/cause"
)

// Scenarios are those of a run that passed or failed, as far as verdicts depend on them: scenarios that are alike are
// one kind, and tests with the same kinds of scenarios are counted, not listed. From these counts all that was worked
// out from the scenarios can be worked out again.
type Scenarios struct {
	Attributes []Attribute `json:"attributes"`
	// RareBelow: values of fewer scenarios, all of which pass, are not told apart from each other. They can be no causes.
	RareBelow int `json:"rareBelow"`
	// Of each kind of scenario: 0 if it passed or its way of failing, from 1; whether it runs what the change touches,
	// null if nobody knows of any scenario; and of each attribute its value, from 1, 0 for not known, or -1 for a rare
	// one.
	Outcomes []int   `json:"outcomes"`
	Reach    []Reach `json:"reach"`
	Values   [][]int `json:"values"`
	// Tests are how many tests there are, and the kinds of the scenarios that each of these has.
	Tests [][]int `json:"tests"`
}

// Attribute is one property of scenarios.
type Attribute struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Reach is whether a scenario runs what the change touches.
type Reach int

// What a map says.
const (
	Unknown Reach = iota
	No
	Yes
)

// rareBelow is the number of scenarios that a value of its own takes. It is no threshold: with thresholds that would
// take less, the evidence is lacking.
const rareBelow = 3

const rare = -1

// maxCells bounds the scenarios that a record is expanded to, times their attributes.
const maxCells = 32 << 20

// validate says what contradicts itself, or is too large to have been recorded.
func (s *Scenarios) validate(ways int) error {
	kinds := len(s.Outcomes)
	if len(s.Values) != len(s.Attributes) || s.Reach != nil && len(s.Reach) != kinds {
		return fmt.Errorf("%d kinds of scenarios with %d of reach, %d columns of %d attributes", kinds, len(s.Reach),
			len(s.Values), len(s.Attributes))
	}
	for i, outcome := range s.Outcomes {
		if outcome < 0 || outcome > ways {
			return fmt.Errorf("kind %d failed in way %d of %d", i, outcome, ways)
		}
	}
	for i, column := range s.Values {
		if len(column) != kinds {
			return fmt.Errorf("attribute %d has %d values for %d kinds", i, len(column), kinds)
		}
		for _, value := range column {
			if value < rare || value > len(s.Attributes[i].Values) {
				return fmt.Errorf("attribute %d has value %d of %d", i, value, len(s.Attributes[i].Values))
			}
		}
	}
	total := 0
	for i, test := range s.Tests {
		strange := func(kind int) bool { return kind < 0 || kind >= kinds }
		if len(test) < 2 || test[0] < 1 || slices.ContainsFunc(test[1:], strange) {
			return fmt.Errorf("tests %d are of no kind", i)
		}
		cells := (len(test) - 1) * (len(s.Attributes) + 1)
		if test[0] > maxCells/cells || total > maxCells-test[0]*cells {
			return fmt.Errorf("scenarios times attributes are more than %d", maxCells)
		}
		total += test[0] * cells
	}
	return nil
}

// expanded are scenarios one by one, in an order of their own. Groups are numbered as the ways were united.
type expanded struct {
	rows  cause.Rows
	reach []Reach
}

// expand lists the scenarios. GroupOf gives the number of each way's group, from 1.
func (s *Scenarios) expand(groupOf []cause.Outcome) expanded {
	var kinds []int
	var e expanded
	test := 0
	for _, tests := range s.Tests {
		for range tests[0] {
			for _, kind := range tests[1:] {
				kinds = append(kinds, kind)
				e.rows.Tests = append(e.rows.Tests, test)
			}
			test++
		}
	}
	e.reach = make([]Reach, len(kinds))
	e.rows.Outcomes = make([]cause.Outcome, len(kinds))
	for row, kind := range kinds {
		if way := s.Outcomes[kind]; way > 0 {
			e.rows.Outcomes[row] = groupOf[way-1] //nolint:gosec // checked by validate
		}
		if s.Reach != nil {
			e.reach[row] = s.Reach[kind]
		}
	}
	for i, attribute := range s.Attributes {
		values := append([]string{""}, attribute.Values...)
		column := make([]uint32, len(kinds))
		for row, kind := range kinds {
			value := s.Values[i][kind]
			if value == rare { // one of its own: no other scenario is known to have it
				value = len(values)
				values = append(values, "a rare value")
			}
			column[row] = uint32(value) //nolint:gosec // checked by validate
		}
		e.rows.Attributes = append(e.rows.Attributes, cause.Attribute{Name: attribute.Name, Values: values})
		e.rows.Values = append(e.rows.Values, column)
	}
	return e
}

// takesRare says whether thresholds could tell values of too few scenarios apart: as causes, or, with little overlap,
// as values that can't be told apart from a cause or hold several.
func (s *Scenarios) takesRare(t triage.Thresholds) bool {
	return t.EligibleRows < s.RareBelow || 3*t.Alias <= 2 || 3*t.Coarser <= 1
}

// hasRare says whether any value was not told apart.
func (s *Scenarios) hasRare() bool {
	return slices.ContainsFunc(s.Values, func(column []int) bool { return slices.Contains(column, rare) })
}
