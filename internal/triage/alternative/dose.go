package alternative

import (
	"fmt"

	"salve/internal/triage"
	"salve/internal/triage/statistics"
)

// dose asks whether scenarios that run through the change fail more often than others of the same class do. It bounds
// what the change can have done in the largest class; elsewhere it can only speak for the change, for what fails there
// may have another cause than most. Where all that fails runs through the change, and chance doesn't do that, it speaks
// for the change however few of those scenarios fail: a regression may need an architecture beside it.
func dose(q Question, t triage.Thresholds) (check triage.ChangeCheck, share *float64) {
	check = triage.ChangeCheck{Name: Dose, Stance: triage.Open}
	if q.Unfinished {
		check.Text = "what has no result ran when the run ended: that says nothing of what it runs"
		return check, nil
	}
	for i, stratum := range q.strata() {
		reached, err := compare(stratum)
		if err != nil {
			if i == 0 {
				check.Text = fmt.Sprintf("among %s there are none to compare: %v", stratum.Label, err)
			}
			continue
		}
		told := fmt.Sprintf("among %s, those that run %s fail in %d of %d cases and the others in %d of %d: %s",
			stratum.Label, q.Subject, reached.FailedReach, reached.FailedReach+reached.PassedReach,
			reached.FailedNoReach, reached.FailedNoReach+reached.PassedNoReach, points(reached.Difference))
		if reached.Difference.Lower > t.ChangeDifference && reached.FailedReach >= t.SmallCauseFailures {
			check.Table, check.Text = &reached, told
			if q.Confined != "" {
				check.Text += fmt.Sprintf("; but nearly all ran on %s, where hardly anything else did", q.Confined)
				return check, nil
			}
			check.Stance = triage.Supports
			return check, nil
		}
		if i > 0 {
			continue
		}
		if all := q.all(); leans(q, t) && all.FailedReach >= t.CauseFailures && all.FailedReach == all.failed() &&
			excess(all) <= t.AllReach {
			check.Stance, check.Table = triage.Supports, &reached
			check.Text = fmt.Sprintf("all %d failures run %s, and %d of the scenarios that don't pass", all.FailedReach,
				q.Subject, all.PassedNoReach)
			return check, nil
		}
		largest := bound(reached)
		share = &largest
		check.Table, check.Text = &reached, told
		if largest <= t.ChangeShare {
			check.Stance = triage.Refutes
			check.Text += fmt.Sprintf(", so that at most %.0f %% of their failures can be its doing", 100*largest)
		}
	}
	return check, share
}

// strata are the classes, and what none of them explains. Where a class is of what is tested and all of it runs through
// the change, such as an operating system of its own, it is compared with all others.
func (q Question) strata() []Stratum {
	strata := append(append([]Stratum{}, q.Classes...), q.Outside)
	if len(q.Classes) == 0 {
		strata[0].Label = "all scenarios"
		return strata
	}
	strata[len(strata)-1].Label = "the scenarios that no cause explains"
	if first := q.Classes[0]; !q.Environment && first.FailedNoReach+first.PassedNoReach == 0 {
		strata = append(strata, q.all())
	}
	return strata
}

// all is every scenario that counts.
func (q Question) all() Stratum {
	all := q.Outside
	all.Label = "all scenarios"
	for _, s := range q.Classes {
		all.FailedReach, all.PassedReach = all.FailedReach+s.FailedReach, all.PassedReach+s.PassedReach
		all.FailedNoReach, all.PassedNoReach = all.FailedNoReach+s.FailedNoReach, all.PassedNoReach+s.PassedNoReach
		all.FailedUnknown, all.PassedUnknown = all.FailedUnknown+s.FailedUnknown, all.PassedUnknown+s.PassedUnknown
	}
	return all
}

// leans says whether failures are on scenarios of the change so often that chance hardly does it, though the dose is
// too small, or its interval too wide, to speak for itself.
func leans(q Question, t triage.Thresholds) bool {
	if q.Unfinished || q.Environment || q.Confined != "" {
		return false
	}
	all := q.all()
	return all.FailedReach >= t.SmallCauseFailures && excess(all) <= t.FalseDiscovery
}

// Tested says whether failures go with what the change touches, whether or not it is the change: they are then of what
// is tested, and not of where it runs.
func Tested(q Question, t triage.Thresholds) bool { return q.Changed && leans(q, t) }

// apart says whether scenarios of the change fail more often than others where no cause explains it. It takes little:
// whatever it is, it keeps the causes from speaking for all failures.
func apart(q Question, t triage.Thresholds) bool {
	return q.Outside.FailedReach > 0 && excess(q.Outside) <= t.Suspicion
}

// excess is the p value of scenarios of the change failing no more often than the others.
func excess(s Stratum) float64 {
	p, err := statistics.FisherGreater(statistics.Table{
		FailedWith: s.FailedReach, PassedWith: s.PassedReach, FailedWithout: s.FailedNoReach, PassedWithout: s.PassedNoReach,
	})
	if err != nil {
		return 1
	}
	return p
}

// compare is the difference of the failure rates.
func compare(s Stratum) (triage.Reached, error) {
	difference, err := statistics.Newcombe(
		statistics.Proportion{Count: s.FailedReach, Of: s.FailedReach + s.PassedReach},
		statistics.Proportion{Count: s.FailedNoReach, Of: s.FailedNoReach + s.PassedNoReach},
	)
	if err != nil {
		return triage.Reached{}, err
	}
	return triage.Reached{
		FailedReach: s.FailedReach, PassedReach: s.PassedReach,
		FailedNoReach: s.FailedNoReach, PassedNoReach: s.PassedNoReach,
		Difference: triage.Interval{Estimate: difference.Estimate, Lower: difference.Lower, Upper: difference.Upper},
	}, nil
}

// bound is the largest share of the failures that the difference leaves to the change: its upper end over the rate.
func bound(r triage.Reached) float64 {
	failed := r.FailedReach + r.FailedNoReach
	all := failed + r.PassedReach + r.PassedNoReach
	if failed == 0 {
		return 1
	}
	return min(1, max(0, r.Difference.Upper)*float64(all)/float64(failed))
}

func points(difference triage.Interval) string {
	return fmt.Sprintf("%+.1f points [%+.1f, %+.1f]", 100*difference.Estimate, 100*difference.Lower, 100*difference.Upper)
}
