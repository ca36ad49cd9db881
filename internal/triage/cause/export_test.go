package cause

import (
	"fmt"

	"salve/internal/triage/statistics"
)

// CountBothWays compares each table of each group with one that is counted row by row; empty if they agree.
func CountBothWays(rows *Rows) string {
	left := make([]bool, len(rows.Outcomes))
	for row := range left {
		left[row] = row%7 == 3
	}
	byTest := membersOf(rows)
	for _, gone := range [][]bool{nil, left} {
		b := newBase(rows, byTest, gone)
		for group := 1; group <= rows.Groups(); group++ {
			var failures []int
			for row, outcome := range rows.Outcomes {
				if int(outcome) == group {
					failures = append(failures, row)
				}
			}
			counted := b.count(Outcome(group), failures, 3, 2)
			if eligible := eligibleByHand(rows, byTest, gone, Outcome(group)); counted.eligible != eligible {
				return fmt.Sprintf("group %d: %d eligible values, by hand %d", group, counted.eligible, eligible)
			}
			for _, c := range b.count(Outcome(group), failures, 0, 2).counted {
				scenarios, tests := byHand(rows, byTest, gone, Outcome(group), c.value)
				if c.scenarios != scenarios || c.tests != tests {
					return fmt.Sprintf("group %d, %s: %+v and %+v, by hand %+v and %+v", group, rows.label(c.value),
						c.scenarios, c.tests, scenarios, tests)
				}
			}
		}
	}
	return ""
}

func byHand(rows *Rows, byTest [][]int, gone []bool, group Outcome, v value) (scenarios, tests statistics.Table) {
	for _, members := range byTest {
		var passedWith, failedWith, passedWithout, failedWithout int
		for _, row := range members {
			if gone != nil && gone[row] {
				continue
			}
			with := rows.has(row, v)
			passedWith += truth(with && rows.Outcomes[row] == Passed)
			failedWith += truth(with && rows.Outcomes[row] == group)
			passedWithout += truth(!with && rows.Outcomes[row] == Passed)
			failedWithout += truth(!with && rows.Outcomes[row] == group)
		}
		scenarios.PassedWith += passedWith
		scenarios.FailedWith += failedWith
		scenarios.PassedWithout += passedWithout
		scenarios.FailedWithout += failedWithout
		tests.FailedWith += truth(failedWith > 0)
		tests.PassedWith += truth(failedWith == 0 && passedWith > 0)
		tests.FailedWithout += truth(failedWithout > 0)
		tests.PassedWithout += truth(failedWithout == 0 && passedWithout > 0)
	}
	return scenarios, tests
}

// eligibleByHand counts the values that three scenarios have and three don't.
func eligibleByHand(rows *Rows, byTest [][]int, gone []bool, group Outcome) int {
	eligible := 0
	for attribute, of := range rows.Attributes {
		for index := range of.Values {
			t, _ := byHand(rows, byTest, gone, group, value{attribute, uint32(index)})
			eligible += truth(t.With().Of >= 3 && t.Without().Of >= 3)
		}
	}
	return eligible
}
