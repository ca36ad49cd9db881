package cause

import (
	"slices"

	"salve/internal/triage"
)

// aliases are the other values that (nearly) the same scenarios have: nothing in this run tells them apart.
func (f *finder) aliases(group int, a association) []string {
	rows, relevant := f.rows, f.relevant(group)
	mine := 0
	for _, row := range relevant {
		mine += truth(rows.has(row, a.value))
	}
	var out []string
	for attribute := range rows.Attributes {
		if attribute == a.attribute {
			continue
		}
		total, both := map[uint32]int{}, map[uint32]int{}
		for _, row := range relevant {
			if rows.has(row, a.value) {
				both[rows.Values[attribute][row]]++
			}
		}
		for _, row := range relevant {
			if index := rows.Values[attribute][row]; both[index] > 0 {
				total[index]++
			}
		}
		for index, n := range both {
			if float64(n) >= f.thresholds.Alias*float64(mine+total[index]-n) {
				out = append(out, rows.label(value{attribute, index}))
			}
		}
	}
	slices.Sort(out)
	return out
}

// relevant are the rows that count for a group: what passed, and its failures.
func (f *finder) relevant(group int) []int {
	var out []int
	for row, outcome := range f.rows.Outcomes {
		if outcome == Passed || outcome == Outcome(group+1) {
			out = append(out, row)
		}
	}
	return out
}

// coarser is a value that the scenarios of several causes make up: a region of two clusters. A value that other
// scenarios have as well, which pass, is not it.
func (f *finder) coarser(group int, taken []association) string {
	rows := f.rows
	union := func(row int) bool {
		return slices.ContainsFunc(taken, func(a association) bool { return rows.has(row, a.value) })
	}
	var labels []string
	for attribute := range rows.Attributes {
		inside, total := map[uint32]int{}, map[uint32]int{}
		all := 0
		for _, row := range f.relevant(group) {
			index := rows.Values[attribute][row]
			total[index]++
			if union(row) {
				inside[index]++
				all++
			}
		}
		for index, n := range inside {
			if index != 0 && float64(n) >= f.thresholds.Coarser*float64(all+total[index]-n) {
				labels = append(labels, rows.label(value{attribute, index}))
			}
		}
	}
	if len(labels) == 0 {
		return ""
	}
	return slices.Min(labels)
}

// stratify asks, of the values that would have been causes but weren't taken, whether those taken explain them: within
// their rows, and outside of them, the odds ratio has to stay what it was.
func (f *finder) stratify(group int, crude, taken []association, to *Found) error {
	for _, a := range crude {
		if slices.ContainsFunc(taken, func(t association) bool { return t.value == a.value }) ||
			aliased(f.rows, a, to.Candidates) {
			continue
		}
		candidate, err := a.candidate(f.rows)
		if err != nil {
			return err
		}
		candidate.ExplainedBy = f.explainedBy(group, a, taken, to)
		to.Explained = append(to.Explained, candidate)
	}
	slices.SortFunc(to.Explained, func(x, y triage.Candidate) int {
		switch {
		case x.FailedWith != y.FailedWith:
			return y.FailedWith - x.FailedWith
		case x.Attribute+"="+x.Value < y.Attribute+"="+y.Value:
			return -1
		}
		return 1
	})
	return nil
}

func aliased(rows *Rows, a association, candidates []triage.Candidate) bool {
	return slices.ContainsFunc(candidates, func(c triage.Candidate) bool {
		return slices.Contains(c.Aliases, rows.label(a.value))
	})
}
