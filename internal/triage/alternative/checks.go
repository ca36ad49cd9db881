package alternative

import (
	"fmt"
	"math"

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
	case q.Seen >= t.BaselineSeen && !alike(q, t):
		check.Text = fmt.Sprintf("%s failed so within %s, of %s, but not as often", changes(q.Seen), window, runs(q.Runs))
	case q.Seen >= t.BaselineSeen:
		check.Stance = triage.Refutes
		check.Text = fmt.Sprintf("%s failed so within %s, in %s", changes(q.Seen), window, runs(q.Runs))
	case q.Seen == 0 && q.Runs >= t.BaselineUnseen:
		check.Stance = triage.Supports
		check.Text = fmt.Sprintf("none of %d runs of other changes within %s failed so", q.Runs, window)
	case q.Runs == 0:
		check.Text = fmt.Sprintf("no run of another change within %s is known", window)
	default:
		check.Text = fmt.Sprintf("%s failed so within %s, of %s: too few to tell", changes(q.Seen), window, runs(q.Runs))
	}
	return check
}

func changes(n int) string {
	if n == 1 {
		return "1 other change"
	}
	return fmt.Sprintf("%d other changes", n)
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// alike says whether others fail as often: a failure that was rare may have been made frequent. Where scenarios that
// may run through the change fail more than others here, or all of them may, it is they that have to fail as often
// without it. Where all kinds fail, what the change adds could hide among them, and takes less to be suspected.
func alike(q Question, t triage.Thresholds) bool {
	mayReach := q.Outside.FailedReach+q.Outside.FailedUnknown > 0
	alone := mayReach && q.Outside.FailedNoReach+q.Outside.PassedNoReach == 0
	hidden := len(q.Classes) == 0 && q.Outside.FailedReach >= t.SmallCauseFailures
	if (alone || hidden || apart(q, t)) && !q.Reaching.alike(t) {
		return false
	}
	if (alone || hidden || apart(q, t)) && !leans(q, t) && q.Reaching.exceeds(t.Suspicion) {
		return false
	}
	return q.Whole.alike(t)
}

// alike takes more than that no difference can be shown. Either as many other changes as it takes have at least half
// of the rate here, and so many failures that chance doesn't make them; or the rate of all runs after the first one
// that failed so is more than half of the one here.
func (c Comparison) alike(t triage.Thresholds) bool {
	seen, many := map[string]bool{}, map[string]bool{}
	var later Rate
	for _, other := range c.Others {
		if len(seen) > 0 {
			later.Failed, later.Of = later.Failed+other.Failed, later.Of+other.Of
		}
		if other.Failed == 0 {
			continue
		}
		seen[other.Change] = true
		if other.Failed >= t.CauseFailures && c.ratio(other) <= t.RiskRatio {
			many[other.Change] = true
		}
	}
	return len(many) >= t.BaselineSeen || len(seen) >= t.BaselineSeen && c.ratio(later) <= t.RiskRatio
}

// worse says whether clearly more fail here than in the runs of others that failed so, or in all if none did.
func (c Comparison) worse(t triage.Thresholds) bool {
	r, err := statistics.RiskRatio(c.table(c.failing()))
	return err == nil && r.Lower >= t.RiskRatio && c.exceeds(t.FalseDiscovery)
}

// exceeds says whether more fail here than there, as far as a p value tells.
func (c Comparison) exceeds(p float64) bool {
	got, err := statistics.FisherGreater(c.table(c.failing()))
	return err == nil && got <= p
}

// failing is the runs of others that failed so, together; all, if none did.
func (c Comparison) failing() Rate {
	var failed, all Rate
	for _, other := range c.Others {
		all.Failed, all.Of = all.Failed+other.Failed, all.Of+other.Of
		if other.Failed > 0 {
			failed.Failed, failed.Of = failed.Failed+other.Failed, failed.Of+other.Of
		}
	}
	if failed.Of == 0 {
		return all
	}
	return failed
}

func (c Comparison) table(other Rate) statistics.Table {
	return statistics.Table{
		FailedWith: c.Here.Failed, PassedWith: c.Here.Of - c.Here.Failed,
		FailedWithout: other.Failed, PassedWithout: other.Of - other.Failed,
	}
}

// ratio is how many times as often scenarios fail here.
func (c Comparison) ratio(other Rate) float64 {
	r, err := statistics.RiskRatio(c.table(other))
	if err != nil {
		return math.Inf(1)
	}
	return r.Estimate
}

// order is whether it failed before there was the change. What failed elsewhere counts if it failed as often. The two
// times may come from two machines, so that only what lies further apart than their clocks counts.
func order(q Question, alike bool, t triage.Thresholds) triage.ChangeCheck {
	check := triage.ChangeCheck{Name: Order, Stance: triage.Open}
	begun := q.FirstFailure
	if alike && !q.FirstElsewhere.IsZero() && (begun.IsZero() || q.FirstElsewhere.Before(begun)) {
		begun = q.FirstElsewhere
	}
	if begun.IsZero() || q.ChangedAt.IsZero() {
		check.Text = "when the change came and when the failures began is not known"
		return check
	}
	first, changed := begun.UTC().Format("15:04:05"), q.ChangedAt.UTC().Format("15:04:05")
	if q.ChangedAt.Sub(begun).Minutes() >= float64(t.OrderMarginMinutes) {
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
