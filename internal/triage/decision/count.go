package decision

import (
	"cmp"
	"encoding/binary"
	"slices"

	"salve/internal/triage"
	"salve/internal/triage/cause"
)

// Count makes the scenarios of rows, whose outcomes are ways of failing. Reach is nil if there is no map. The same rows
// in another order give the same. Nothing is left out that these thresholds could take.
func Count(rows *cause.Rows, reach []Reach, t triage.Thresholds) *Scenarios {
	s := &Scenarios{
		RareBelow: rareBelow, Attributes: []Attribute{}, Outcomes: []int{}, Values: [][]int{}, Tests: [][]int{},
	}
	if s.takesRare(t) {
		s.RareBelow = 0
	}
	if reach != nil {
		s.Reach = []Reach{}
	}
	columns := make([][]int, 0, len(rows.Attributes))
	for _, i := range byName(rows) {
		values, number := valuesOf(rows, i, s.RareBelow)
		s.Attributes = append(s.Attributes, Attribute{rows.Attributes[i].Name, values})
		column := make([]int, len(rows.Outcomes))
		for row, value := range rows.Values[i] {
			column[row] = number[value]
		}
		columns = append(columns, column)
		s.Values = append(s.Values, []int{})
	}
	of := s.kinds(rows, reach, columns)
	s.tests(rows, of)
	return s
}

func byName(rows *cause.Rows) []int {
	order := make([]int, len(rows.Attributes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(rows.Attributes[x].Name, rows.Attributes[y].Name)
	})
	return order
}

// valuesOf are the values of an attribute that are told apart, by name, and the number of each value of the rows.
func valuesOf(rows *cause.Rows, attribute, rareBelow int) (values []string, number []int) {
	all := rows.Attributes[attribute].Values
	scenarios, failing := make([]int, len(all)), make([]bool, len(all))
	for row, value := range rows.Values[attribute] {
		if outcome := rows.Outcomes[row]; outcome != cause.LeftOut {
			scenarios[value]++
			failing[value] = failing[value] || outcome != cause.Passed
		}
	}
	var kept []int
	number = make([]int, len(all))
	for value := 1; value < len(all); value++ {
		number[value] = rare
		if failing[value] || scenarios[value] >= rareBelow {
			kept = append(kept, value)
		}
	}
	slices.SortFunc(kept, func(x, y int) int { return cmp.Compare(all[x], all[y]) })
	values = []string{}
	for i, value := range kept {
		number[value] = i + 1
		values = append(values, all[value])
	}
	return values, number
}

// kinds fills in the kinds of scenarios, in the order of what they are, and gives that of each row; -1 for a row that
// doesn't count.
func (s *Scenarios) kinds(rows *cause.Rows, reach []Reach, columns [][]int) []int {
	type kind struct {
		row    int // one of them
		what   []int
		number int
	}
	known := map[string]*kind{}
	var order []*kind
	kindOf := make([]*kind, len(rows.Outcomes))
	var key []byte
	for row, outcome := range rows.Outcomes {
		if outcome == cause.LeftOut {
			continue
		}
		what := []int{int(outcome)}
		if reach != nil {
			what = append(what, int(reach[row]))
		}
		for _, column := range columns {
			what = append(what, column[row])
		}
		key = key[:0]
		for _, value := range what {
			key = binary.AppendVarint(key, int64(value))
		}
		if known[string(key)] == nil {
			known[string(key)] = &kind{row: row, what: what}
			order = append(order, known[string(key)])
		}
		kindOf[row] = known[string(key)]
	}
	slices.SortFunc(order, func(x, y *kind) int { return slices.Compare(x.what, y.what) })
	for i, k := range order {
		k.number = i
		s.Outcomes = append(s.Outcomes, int(rows.Outcomes[k.row]))
		if reach != nil {
			s.Reach = append(s.Reach, reach[k.row])
		}
		for i, column := range columns {
			s.Values[i] = append(s.Values[i], column[k.row])
		}
	}
	of := make([]int, len(kindOf))
	for row, k := range kindOf {
		of[row] = -1
		if k != nil {
			of[row] = k.number
		}
	}
	return of
}

// tests counts tests by the kinds of their scenarios.
func (s *Scenarios) tests(rows *cause.Rows, of []int) {
	members := map[int][]int{}
	for row, test := range rows.Tests {
		if of[row] >= 0 {
			members[test] = append(members[test], of[row])
		}
	}
	all := make([][]int, 0, len(members))
	for _, kinds := range members {
		slices.Sort(kinds)
		all = append(all, kinds)
	}
	slices.SortFunc(all, slices.Compare)
	for i, kinds := range all {
		if i > 0 && slices.Equal(kinds, all[i-1]) {
			s.Tests[len(s.Tests)-1][0]++
			continue
		}
		s.Tests = append(s.Tests, append([]int{1}, kinds...))
	}
}
