package cause

import (
	"cmp"
	"fmt"
	"slices"

	"salve/internal/triage"
	"salve/internal/triage/statistics"
)

// association is one value's table with what follows from it.
type association struct {
	counted
	logP      float64 // the weaker of by scenario and by test
	byTest    bool    // that one is by test
	q         float64
	riskRatio statistics.Ratio
	byTests   float64 // lower end of the risk ratio's interval by test
}

// associate works out the associations of a group. Ranks count among all eligible values of all groups: whoever looks
// at thousands of tables finds a few strange ones.
func associate(c census, eligible int) ([]association, error) {
	found := make([]association, 0, len(c.counted))
	for _, table := range c.counted {
		a, err := associateOne(table)
		if err != nil {
			return nil, err
		}
		found = append(found, a)
	}
	return found, discover(found, eligible)
}

func associateOne(table counted) (association, error) {
	a := association{counted: table}
	logP, err := statistics.LogFisherGreater(table.scenarios)
	if err != nil {
		return a, err
	}
	byTest, err := statistics.LogFisherGreater(table.tests)
	if err != nil {
		return a, err
	}
	a.logP, a.byTest = max(logP, byTest), byTest > logP
	if a.riskRatio, err = statistics.RiskRatio(table.scenarios); err != nil {
		return a, err
	}
	ratio, err := statistics.RiskRatio(table.tests)
	if err != nil { // every test has the value and lacks it: by test nothing can be compared
		return a, nil //nolint:nilerr // a value that can't be compared by test is not kept
	}
	a.byTests = ratio.Lower
	return a, nil
}

// keep says whether a value may be a cause of a group with this many failures. By test the ratio is smaller: a test
// with several scenarios fails wherever one of them does. There it only has to point the same way.
func (a association) keep(failures int, t triage.Thresholds) bool {
	enough := a.scenarios.FailedWith >= t.CauseFailures ||
		a.scenarios.FailedWith >= t.SmallCauseFailures && a.scenarios.FailedWithout == 0 && failures < t.CauseFailures
	several := a.tests.FailedWith >= t.SmallCauseFailures // not one test's repetitions
	return a.q <= t.FalseDiscovery && a.riskRatio.Lower >= t.RiskRatio && a.byTests > 1 && enough && several &&
		float64(a.scenarios.FailedWith) >= t.CauseCoverage*float64(failures)
}

// fit is the harmonic mean of the failures that a value covers and of its own rate of failures.
func (a association) fit() float64 {
	table := a.scenarios
	return 2 * float64(table.FailedWith) / float64(2*table.FailedWith+table.FailedWithout+table.PassedWith)
}

// best is the value that fits best; equals are ordered by name, so that the order of the rows says nothing.
func best(rows *Rows, kept []association) association {
	return slices.MinFunc(kept, func(x, y association) int {
		return cmp.Or(cmp.Compare(y.fit(), x.fit()), cmp.Compare(x.logP, y.logP),
			cmp.Compare(rows.label(x.value), rows.label(y.value)))
	})
}

// candidate is the association as the document has it.
func (a association) candidate(rows *Rows) (triage.Candidate, error) {
	table := a.scenarios
	attribute := rows.Attributes[a.attribute]
	c := triage.Candidate{
		Attribute: attribute.Name, Value: attribute.Values[a.index],
		FailedWith: table.FailedWith, PassedWith: table.PassedWith,
		FailedWithout: table.FailedWithout, PassedWithout: table.PassedWithout,
		RiskRatio: triage.Interval{Estimate: a.riskRatio.Estimate, Lower: a.riskRatio.Lower, Upper: a.riskRatio.Upper},
		LogP:      a.logP, Q: a.q, ByTest: a.byTest,
	}
	for _, rate := range []struct {
		is *triage.Interval
		of statistics.Proportion
	}{{&c.RateWith, table.With()}, {&c.RateWithout, table.Without()}} {
		interval, err := statistics.Wilson(rate.of)
		if err != nil {
			return c, fmt.Errorf("%s: %w", rows.label(a.value), err)
		}
		estimate, err := rate.of.Rate()
		if err != nil {
			return c, fmt.Errorf("%s: %w", rows.label(a.value), err)
		}
		*rate.is = triage.Interval{Estimate: estimate, Lower: interval.Lower, Upper: interval.Upper}
	}
	coverage, err := table.Coverage().Rate()
	if err != nil {
		return c, fmt.Errorf("%s: %w", rows.label(a.value), err)
	}
	c.Coverage = coverage
	return c, nil
}
