package cause

import "fmt"

// Outcome is how one scenario counts: it passed, it failed in a group, or it is left out.
type Outcome int

// A group's number is from 1.
const (
	Passed  Outcome = 0
	LeftOut Outcome = -1
)

// Attribute is one property of scenarios. Values[0] is "", which stands for: not known.
type Attribute struct {
	Name   string
	Values []string
}

// Rows are the scenarios of a run, one each, as columns.
type Rows struct {
	Attributes []Attribute
	Outcomes   []Outcome
	Tests      []int      // which test a scenario belongs to, from 0
	Values     [][]uint32 // of each attribute, of each scenario: an index of Attribute.Values
}

// Groups is the highest number of a group.
func (r *Rows) Groups() int {
	groups := 0
	for _, outcome := range r.Outcomes {
		groups = max(groups, int(outcome))
	}
	return groups
}

func (r *Rows) validate() error {
	if len(r.Tests) != len(r.Outcomes) || len(r.Values) != len(r.Attributes) {
		return fmt.Errorf("rows: %d outcomes, %d tests, %d columns of %d attributes",
			len(r.Outcomes), len(r.Tests), len(r.Values), len(r.Attributes))
	}
	for i, test := range r.Tests {
		if test < 0 || test >= len(r.Tests) || r.Outcomes[i] < LeftOut {
			return fmt.Errorf("row %d: test %d, outcome %d", i, test, r.Outcomes[i])
		}
	}
	for i, column := range r.Values {
		attribute := r.Attributes[i]
		if len(column) != len(r.Outcomes) || len(attribute.Values) == 0 || attribute.Values[0] != "" {
			return fmt.Errorf("attribute %q: %d values for %d rows, of %d", attribute.Name, len(column),
				len(r.Outcomes), len(attribute.Values))
		}
		for _, value := range column {
			if int(value) >= len(attribute.Values) {
				return fmt.Errorf("attribute %q: value %d of %d", attribute.Name, value, len(attribute.Values))
			}
		}
	}
	return nil
}

// value is one value of one attribute.
type value struct {
	attribute int
	index     uint32
}

func (r *Rows) has(row int, v value) bool { return r.Values[v.attribute][row] == v.index }

func (r *Rows) label(v value) string {
	attribute := r.Attributes[v.attribute]
	if v.index == 0 {
		return attribute.Name + " unknown"
	}
	return attribute.Name + "=" + attribute.Values[v.index]
}
