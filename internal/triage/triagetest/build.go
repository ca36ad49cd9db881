package triagetest

import (
	"fmt"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/statistics"
)

// start is when the runs of the samples began.
func start() time.Time { return time.Date(2026, time.November, 12, 8, 20, 0, 0, time.UTC) }

// Candidate is a value with all that follows from its 2×2. A table of nothing is a mistake of the test, and panics.
func Candidate(attribute, value string, t statistics.Table, aliases ...string) triage.Candidate {
	risk := must(statistics.RiskRatio(t))
	return triage.Candidate{
		Attribute: attribute, Value: value, Aliases: aliases,
		FailedWith: t.FailedWith, PassedWith: t.PassedWith,
		FailedWithout: t.FailedWithout, PassedWithout: t.PassedWithout,
		RateWith: rate(t.With()), RateWithout: rate(t.Without()),
		RiskRatio: triage.Interval{Estimate: risk.Estimate, Lower: risk.Lower, Upper: risk.Upper},
		Coverage:  must(t.Coverage().Rate()), LogP: must(statistics.LogFisherGreater(t)),
		Q: must(statistics.FisherGreater(t)),
	}
}

func rate(p statistics.Proportion) triage.Interval {
	wilson := must(statistics.Wilson(p))
	return triage.Interval{Estimate: must(p.Rate()), Lower: wilson.Lower, Upper: wilson.Upper}
}

// reached compares scenarios that reach the change with others.
func reached(t statistics.Table) *triage.Reached {
	difference := must(statistics.Newcombe(t.With(), t.Without()))
	return &triage.Reached{
		FailedReach: t.FailedWith, PassedReach: t.PassedWith,
		FailedNoReach: t.FailedWithout, PassedNoReach: t.PassedWithout,
		Difference: triage.Interval{Estimate: difference.Estimate, Lower: difference.Lower, Upper: difference.Upper},
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("a sample that can't be: %v", err))
	}
	return value
}

// timeline spreads what passed and what failed, by group, over parts of five minutes.
func timeline(passed []int, failed ...[]int) []triage.Moment {
	moments := make([]triage.Moment, len(passed))
	for i := range moments {
		moment := triage.Moment{Time: start().Add(time.Duration(i) * 5 * time.Minute), Seconds: 300, Passed: passed[i]}
		for _, group := range failed {
			moment.Failed += group[i]
			moment.ByGroup = append(moment.ByGroup, group[i])
		}
		moments[i] = moment
	}
	return moments
}

func heat(attribute, value string, passed int, failed ...int) triage.Heat {
	row := triage.Heat{Attribute: attribute, Value: value, Passed: passed, ByGroup: failed}
	for _, count := range failed {
		row.Failed += count
	}
	return row
}

func document(build string) triage.Document {
	return triage.Document{
		Format: triage.Format, Build: build, Digest: "sha256:3b1f6c0d9e57", Created: start().Add(95 * time.Minute),
		Thresholds: triage.Default().List(),
	}
}
