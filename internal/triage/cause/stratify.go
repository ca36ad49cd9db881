package cause

import (
	"errors"
	"math"
	"strings"

	"salve/internal/triage/statistics"
)

// explainedBy names the causes that explain a value, or is empty.
func (f *finder) explainedBy(group int, a association, taken []association, to *Found) string {
	strata := make([]statistics.Table, len(taken)+1)
	for _, row := range f.relevant(group) {
		t := &strata[to.Of(row)+1]
		failed, with := f.rows.Outcomes[row] != Passed, f.rows.has(row, a.value)
		switch {
		case failed && with:
			t.FailedWith++
		case with:
			t.PassedWith++
		case failed:
			t.FailedWithout++
		default:
			t.PassedWithout++
		}
	}
	if !weakened(a.scenarios, strata) {
		return ""
	}
	var names []string
	for _, t := range taken {
		names = append(names, f.rows.label(t.value))
	}
	return strings.Join(names, " and ")
}

// weakened says whether the logarithm of the odds ratio halves or turns within the strata. Strata in which nothing can
// be compared leave nothing of it.
func weakened(crude statistics.Table, strata []statistics.Table) bool {
	whole, err := statistics.MantelHaenszel([]statistics.Table{crude})
	if err != nil {
		return false
	}
	within, err := statistics.MantelHaenszel(strata)
	if err != nil {
		return errors.Is(err, statistics.ErrNoRows)
	}
	return within.Log*whole.Log <= 0 || math.Abs(within.Log) <= math.Abs(whole.Log)/2
}
