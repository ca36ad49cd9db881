package cause

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
)

// Found is what was found for one group.
type Found struct {
	triage.Cause
	// Unknown are attributes that too many scenarios lack.
	Unknown []string

	of []int8 // the candidate that explains a row, plus 1; nil without candidates
}

// Of is the candidate that explains a row, as an index of Candidates; -1 for none.
func (f *Found) Of(row int) int {
	if row >= len(f.of) {
		return -1
	}
	return int(f.of[row]) - 1
}

// Find gives the causes of each group, the first one's at 0.
func Find(rows *Rows, thresholds triage.Thresholds) ([]Found, error) {
	if err := rows.validate(); err != nil {
		return nil, err
	}
	f := finder{rows: rows, thresholds: thresholds, byTest: membersOf(rows), failures: make([][]int, rows.Groups())}
	for row, outcome := range rows.Outcomes {
		if outcome > Passed {
			f.failures[outcome-1] = append(f.failures[outcome-1], row)
		}
	}
	f.all = newBase(rows, f.byTest, nil)
	return f.run()
}

// finder is one search for the causes of all groups.
type finder struct {
	rows       *Rows
	thresholds triage.Thresholds
	byTest     [][]int
	failures   [][]int // of each group
	all        *base
	eligible   int // values that take part, of all groups
}

func membersOf(rows *Rows) [][]int {
	members := make([][]int, len(rows.Tests))
	for row, test := range rows.Tests {
		members[test] = append(members[test], row)
	}
	return members
}

func (f *finder) run() ([]Found, error) {
	found := make([]Found, len(f.failures))
	first := make([][]association, len(f.failures))
	var pool []association
	for i, failures := range f.failures {
		found[i].Unexplained = len(failures)
		if len(failures) < f.thresholds.SmallCauseFailures {
			continue // no value of these could be a cause
		}
		c := f.count(f.all, i)
		f.eligible += c.eligible
		found[i].Unjudged, found[i].Unknown = f.unjudged(c, failures), f.unknown(c, failures)
		associations, err := associate(c, 0)
		if err != nil {
			return nil, fmt.Errorf("group %d: %w", i+1, err)
		}
		first[i] = associations
		pool = append(pool, associations...)
	}
	if err := discover(pool, f.eligible); err != nil {
		return nil, err
	}
	for i := range first {
		first[i], pool = pool[:len(first[i])], pool[len(first[i]):]
		if err := f.explain(i, first[i], &found[i]); err != nil {
			return nil, fmt.Errorf("group %d: %w", i+1, err)
		}
	}
	return found, nil
}

func (f *finder) count(b *base, group int) census {
	return b.count(Outcome(group+1), f.failures[group], f.thresholds.EligibleRows, f.thresholds.SameValue)
}

// explain takes the value that fits best, takes its rows out, and asks again.
func (f *finder) explain(group int, found []association, to *Found) error {
	crude := f.kept(found, len(f.failures[group]))
	var taken []association
	left := make([]bool, len(f.rows.Outcomes))
	kept := crude
	if len(kept) > 0 {
		to.of = make([]int8, len(f.rows.Outcomes))
	}
	for len(kept) > 0 && len(taken) < f.thresholds.Causes {
		a := best(f.rows, kept)
		candidate, err := a.candidate(f.rows)
		if err != nil {
			return err
		}
		candidate.Aliases = f.aliases(group, a)
		taken = append(taken, a)
		for row := range left {
			if !left[row] && f.rows.has(row, a.value) {
				left[row] = true
				to.of[row] = int8(len(taken)) //nolint:gosec // a handful
			}
		}
		to.Candidates = append(to.Candidates, candidate)
		c := f.count(newBase(f.rows, f.byTest, left), group)
		to.Unexplained = c.failures
		again, err := associate(c, f.eligible)
		if err != nil {
			return err
		}
		kept = f.kept(again, c.failures)
	}
	if err := f.stratify(group, crude, taken, to); err != nil {
		return err
	}
	f.conclude(group, taken, to)
	return nil
}

func (f *finder) kept(found []association, failures int) []association {
	var kept []association
	for _, a := range found {
		if a.keep(failures, f.thresholds) {
			kept = append(kept, a)
		}
	}
	return kept
}

// unjudged says which attributes can't tell anything about a group, and why.
func (f *finder) unjudged(c census, failures []int) []string {
	var same, few []string
	for i, attribute := range f.rows.Attributes {
		switch {
		case slices.Contains(c.same, attribute.Name):
			same = append(same, attribute.Name)
		case !slices.ContainsFunc(c.counted, func(t counted) bool { return t.attribute == i }) && len(failures) > 0:
			few = append(few, attribute.Name)
		}
	}
	var out []string
	if len(same) > 0 {
		out = append(out, fmt.Sprintf("%s: more than %g %% of the scenarios have one value", some(same),
			100*f.thresholds.SameValue))
	}
	if len(few) > 0 {
		out = append(out, fmt.Sprintf("%s: no value that fails has %d scenarios, and %d without it", some(few),
			f.thresholds.EligibleRows, f.thresholds.EligibleRows))
	}
	return out
}

// some is a list of names that may be very long.
func some(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// unknown are the attributes that more scenarios lack than may. What most scenarios lack is not an attribute of this
// run, but of a part of it.
func (f *finder) unknown(c census, failures []int) []string {
	var out []string
	for i, attribute := range f.rows.Attributes {
		lacking := f.all.values[i][0].scenarios
		for _, row := range failures {
			lacking += truth(f.rows.Values[i][row] == 0)
		}
		all := float64(f.all.passes + c.failures)
		if float64(lacking) > f.thresholds.UnknownShare*all && float64(lacking) <= all/2 {
			out = append(out, attribute.Name)
		}
	}
	return out
}
