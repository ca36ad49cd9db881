package history_test

import (
	"slices"
	"testing"
	"time"

	"salve/internal/triage/history"
)

func TestSizesAreOfTheSameJobInOtherBuilds(t *testing.T) {
	sized := func(build, job string, at time.Time, scenarios int) history.Entry {
		e := entry(build, "pr-"+build, at)
		e.Run, e.Totals.Scenarios = job, scenarios
		return e
	}
	before := noon.Add(-time.Hour)
	h := with(t, sized("1", "e2e", before, 100), sized("2", "e2e", before, 90), sized("3", "unit", before, 7),
		sized("4", "e2e", noon.Add(-50*time.Hour), 80), sized("5", "e2e", before, 70))
	got := h.Sizes("e2e", "5", 48*time.Hour, noon)
	slices.Sort(got)
	if !slices.Equal(got, []int{90, 100}) {
		t.Errorf("sizes %v", got)
	}
}
