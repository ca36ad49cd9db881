package alternative

import (
	"fmt"

	"salve/internal/triage"
	"salve/internal/triage/statistics"
)

// unreachable are failures on scenarios that don't run through what the change touches: that one can't be its doing, so
// something else fails them in the same way.
func unreachable(q Question, t triage.Thresholds) triage.ChangeCheck {
	check := triage.ChangeCheck{Name: Unreachable, Stance: triage.Open}
	failed, cannot, unknown := q.Outside.failed(), q.Outside.FailedNoReach, q.Outside.FailedUnknown
	for _, class := range q.Classes {
		failed, cannot, unknown = failed+class.failed(), cannot+class.FailedNoReach, unknown+class.FailedUnknown
	}
	switch {
	case cannot >= t.UnreachableFailures:
		check.Stance = triage.Refutes
		check.Text = fmt.Sprintf("%d of %d failures are on scenarios that don't run %s", cannot, failed, q.Subject)
	case unknown == failed:
		check.Text = fmt.Sprintf("which scenarios run %s is not known", q.Subject)
	default:
		check.Text = fmt.Sprintf("%d of %d failures are on scenarios that don't run %s, of %d needed",
			cannot, failed, q.Subject, t.UnreachableFailures)
	}
	return check
}

// prior is whether other changes fail in the same way.
func prior(q Question, t triage.Thresholds) triage.ChangeCheck {
	check := triage.ChangeCheck{Name: Prior, Stance: triage.Open}
	window := fmt.Sprintf("%d h", t.BaselineHours)
	switch {
	case q.Seen >= t.BaselineSeen && worse(q, t):
		check.Text = fmt.Sprintf("it failed so in %d of %d runs of other changes within %s, but far less often", q.Seen,
			q.Runs, window)
	case q.Seen >= t.BaselineSeen:
		check.Stance = triage.Refutes
		check.Text = fmt.Sprintf("it failed so in %d of %d runs of other changes within %s", q.Seen, q.Runs, window)
	case q.Seen == 0 && q.Runs >= t.BaselineUnseen:
		check.Stance = triage.Supports
		check.Text = fmt.Sprintf("none of %d runs of other changes within %s failed so", q.Runs, window)
	case q.Runs == 0:
		check.Text = fmt.Sprintf("no run of another change within %s is known", window)
	default:
		check.Text = fmt.Sprintf("it failed so in %d of %d runs of other changes within %s: too few to tell",
			q.Seen, q.Runs, window)
	}
	return check
}

// worse says whether more scenarios fail here than in those runs of others that failed so: a failure that was rare may
// have been made frequent.
func worse(q Question, t triage.Thresholds) bool {
	failed, all := 0, 0
	for _, s := range append([]Stratum{q.Outside}, q.Classes...) {
		failed += s.failed()
		all += s.failed() + s.PassedReach + s.PassedNoReach + s.PassedUnknown
	}
	table := statistics.Table{
		FailedWith: failed, PassedWith: all - failed,
		FailedWithout: q.SeenFailures, PassedWithout: max(0, q.SeenScenarios-q.SeenFailures),
	}
	ratio, err := statistics.RiskRatio(table)
	if err != nil || ratio.Estimate < t.RiskRatio {
		return false
	}
	p, err := statistics.FisherGreater(table)
	return err == nil && p <= t.FalseDiscovery
}

// order is whether it failed before there was the change. The two times may come from two machines, so that only what
// lies further apart than their clocks counts.
func order(q Question, t triage.Thresholds) triage.ChangeCheck {
	check := triage.ChangeCheck{Name: Order, Stance: triage.Open}
	if q.FirstFailure.IsZero() || q.ChangedAt.IsZero() {
		check.Text = "when the change came and when the failures began is not known"
		return check
	}
	first, changed := q.FirstFailure.UTC().Format("15:04:05"), q.ChangedAt.UTC().Format("15:04:05")
	if q.ChangedAt.Sub(q.FirstFailure).Minutes() >= float64(t.OrderMarginMinutes) {
		check.Stance = triage.Refutes
		check.Text = fmt.Sprintf("the first failure, at %s UTC, is older than the change, of %s", first, changed)
		return check
	}
	check.Text = fmt.Sprintf("the first failure, at %s UTC, is not older than the change, of %s", first, changed)
	return check
}

// product is whether it fails inside what the change touches.
func product(q Question) triage.ChangeCheck {
	if q.InPaths > 0 {
		return triage.ChangeCheck{Name: Product, Stance: triage.Supports,
			Text: fmt.Sprintf("%s at %s, which the change touches", failures(q.InPaths), q.Place)}
	}
	return triage.ChangeCheck{Name: Product, Stance: triage.Open, Text: "no failure is at a place that the change touches"}
}

func failures(n int) string {
	if n == 1 {
		return "1 failure is"
	}
	return fmt.Sprintf("%d failures are", n)
}
