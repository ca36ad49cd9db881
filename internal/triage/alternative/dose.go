package alternative

import (
	"fmt"

	"salve/internal/triage"
	"salve/internal/triage/statistics"
)

// dose asks whether scenarios that run through the change fail more often than others of the same class do. It bounds
// what the change can have done in the largest class; elsewhere it can only speak for the change, for what fails there
// may have another cause than most. apart says that it does so where no cause explains the failures, though there are
// causes.
func dose(q Question, t triage.Thresholds) (check triage.ChangeCheck, share *float64, apart bool) {
	strata := append(append([]Stratum{}, q.Classes...), q.Outside)
	if len(q.Classes) == 0 {
		strata[0].Label = "all scenarios"
	} else {
		strata[len(strata)-1].Label = "the scenarios that no cause explains"
	}
	check = triage.ChangeCheck{Name: Dose, Stance: triage.Open}
	for i, stratum := range strata {
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
			apart = len(q.Classes) > 0 && i == len(strata)-1
			return triage.ChangeCheck{Name: Dose, Stance: triage.Supports, Table: &reached, Text: told}, nil, apart
		}
		if i > 0 {
			continue
		}
		largest := bound(reached)
		share = &largest
		check.Table, check.Text = &reached, told
		if largest <= t.ChangeShare {
			check.Stance = triage.Refutes
			check.Text += fmt.Sprintf(", so that at most %.0f %% of their failures can be its doing", 100*largest)
		}
	}
	return check, share, false
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
