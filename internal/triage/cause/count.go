package cause

import (
	"slices"

	"salve/internal/triage/statistics"
)

// base counts what passed, once for all groups: beside it a group costs no more than its own tests.
type base struct {
	rows   *Rows
	byTest [][]int // the rows of each test
	left   []bool  // rows that an earlier cause explains; nil for none
	slots  []int   // of each value, where its tally is, plus 1: scratch

	passes  int        // scenarios
	passing int        // tests with a scenario that passed
	values  [][]passed // of each attribute, each value
}

// passed counts what passed with one value.
type passed struct {
	scenarios int
	tests     int // with a scenario that passed with it
	allTests  int // of which all scenarios that passed have it
}

// tally is what the scenarios of one test did that have one value.
type tally struct {
	value  uint32
	passed int
	failed int
}

func newBase(rows *Rows, byTest [][]int, left []bool) *base {
	b := &base{rows: rows, byTest: byTest, left: left}
	most := 0
	for _, attribute := range rows.Attributes {
		b.values = append(b.values, make([]passed, len(attribute.Values)))
		most = max(most, len(attribute.Values))
	}
	b.slots = make([]int, most)
	var tallies []tally
	for _, members := range byTest {
		passes := b.passesOf(members)
		b.passes += passes
		b.passing += truth(passes > 0)
		for attribute := range rows.Attributes {
			tallies = b.tallies(tallies[:0], members, attribute, Passed)
			for _, t := range tallies {
				counted := &b.values[attribute][t.value]
				counted.scenarios += t.passed
				counted.tests += truth(t.passed > 0)
				counted.allTests += truth(t.passed > 0 && t.passed == passes)
			}
		}
	}
	return b
}

func (b *base) passesOf(members []int) int {
	passes := 0
	for _, row := range members {
		passes += truth(b.rows.Outcomes[row] == Passed && (b.left == nil || !b.left[row]))
	}
	return passes
}

// tallies of the scenarios of a test that passed, or failed in a group, by the values of an attribute.
func (b *base) tallies(to []tally, members []int, attribute int, group Outcome) []tally {
	column := b.rows.Values[attribute]
	for _, row := range members {
		outcome := b.rows.Outcomes[row]
		if b.left != nil && b.left[row] || outcome != Passed && outcome != group {
			continue
		}
		slot := &b.slots[column[row]]
		if *slot == 0 {
			to = append(to, tally{value: column[row]})
			*slot = len(to)
		}
		if outcome == Passed {
			to[*slot-1].passed++
		} else {
			to[*slot-1].failed++
		}
	}
	for _, t := range to {
		b.slots[t.value] = 0
	}
	return to
}

// counted is the table of one value: by scenario, and by test.
type counted struct {
	value
	scenarios statistics.Table
	tests     statistics.Table
}

// census is what was counted for one group.
type census struct {
	failures int
	tests    int // that failed
	counted  []counted
	eligible int      // values that take part, those without a failure too
	same     []string // attributes of which one value has nearly all scenarios
}

// failingTests are the tests with a failure in the group.
func (b *base) failingTests(failures []int) []int {
	var tests []int
	for _, row := range failures {
		if b.left == nil || !b.left[row] {
			tests = append(tests, b.rows.Tests[row])
		}
	}
	slices.Sort(tests)
	return slices.Compact(tests)
}

// count makes the tables of a group whose failures are these rows.
func (b *base) count(group Outcome, failures []int, eligibleRows int, sameValue float64) census {
	tests := b.failingTests(failures)
	c := census{tests: len(tests)}
	for _, row := range failures {
		c.failures += truth(b.left == nil || !b.left[row])
	}
	for attribute := range b.rows.Attributes {
		found := b.countAttribute(attribute, group, tests, c.failures)
		relevant := b.passes + c.failures
		eligible := func(with int) bool { return with >= eligibleRows && relevant-with >= eligibleRows }
		most := 0
		next := found
		for index, p := range b.values[attribute] {
			with := p.scenarios
			if len(next) > 0 && int(next[0].index) == index {
				with, next = next[0].scenarios.With().Of, next[1:]
			}
			c.eligible += truth(eligible(with))
			most = max(most, with)
		}
		if float64(most) > sameValue*float64(relevant) {
			c.same = append(c.same, b.rows.Attributes[attribute].Name)
		}
		for _, f := range found {
			with := f.scenarios.With().Of
			if eligible(with) && float64(with) <= sameValue*float64(relevant) {
				c.counted = append(c.counted, f)
			}
		}
	}
	return c
}

// countAttribute makes the tables of the values that the group's failures have. Tests without a failure are in the
// base; of the others what the base has is taken out first.
func (b *base) countAttribute(attribute int, group Outcome, tests []int, failures int) []counted {
	type sums struct {
		failed                            int // scenarios
		testsFailed, testsPassed          int // with the value
		elsewhereFailed, elsewherePassed  int // without it, of tests that have the value
		withFailed, basePassed, baseOther int // what these tests are in the base
	}
	found := map[uint32]*sums{}
	var tallies []tally
	passingOfFailed := 0
	for _, test := range tests {
		tallies = b.tallies(tallies[:0], b.byTest[test], attribute, group)
		passed, failed := 0, 0
		for _, t := range tallies {
			passed, failed = passed+t.passed, failed+t.failed
		}
		passingOfFailed += truth(passed > 0)
		for _, t := range tallies {
			s := found[t.value]
			if s == nil {
				s = &sums{}
				found[t.value] = s
			}
			s.failed += t.failed
			s.testsFailed += truth(t.failed > 0)
			s.testsPassed += truth(t.failed == 0 && t.passed > 0)
			s.withFailed++
			s.elsewhereFailed += truth(failed > t.failed)
			s.elsewherePassed += truth(failed == t.failed && passed > t.passed)
			s.basePassed += truth(t.passed > 0)
			s.baseOther += truth(t.passed > 0 && t.passed == passed)
		}
	}
	var tables []counted
	for index, s := range found {
		if s.failed == 0 {
			continue
		}
		p := b.values[attribute][index]
		tables = append(tables, counted{
			value: value{attribute, index},
			scenarios: statistics.Table{
				FailedWith: s.failed, PassedWith: p.scenarios,
				FailedWithout: failures - s.failed, PassedWithout: b.passes - p.scenarios,
			},
			tests: statistics.Table{
				FailedWith: s.testsFailed, PassedWith: p.tests - s.basePassed + s.testsPassed,
				FailedWithout: len(tests) - s.withFailed + s.elsewhereFailed,
				PassedWithout: b.passing - passingOfFailed - (p.allTests - s.baseOther) + s.elsewherePassed,
			},
		})
	}
	slices.SortFunc(tables, func(x, y counted) int { return int(x.index) - int(y.index) })
	return tables
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
