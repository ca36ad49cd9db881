package alternative_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
)

// outage is 104 of 112 failures on cluster A, of which scriptless scenarios run the change; 11 of 40 on B.
func outage(edit ...func(*alternative.Question)) alternative.Question {
	q := alternative.Question{
		Changed: true, Subject: "component node-controller",
		Classes: []alternative.Stratum{
			{Label: "cluster=A", FailedReach: 48, PassedReach: 4, FailedNoReach: 56, PassedNoReach: 4},
			{Label: "cluster=B", FailedReach: 5, PassedReach: 14, FailedNoReach: 6, PassedNoReach: 15},
		},
		Outside: alternative.Stratum{PassedReach: 79, PassedNoReach: 89},
	}
	for _, e := range edit {
		e(&q)
	}
	return q
}

// regression is 4 of the 8 scenarios that run the change, and no other.
func regression(edit ...func(*alternative.Question)) alternative.Question {
	q := alternative.Question{
		Changed: true, Subject: "component node-controller",
		Outside: alternative.Stratum{FailedReach: 4, PassedReach: 4, PassedNoReach: 300},
	}
	for _, e := range edit {
		e(&q)
	}
	return q
}

func TestAlternative(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	seen := func(seen, runs int) func(*alternative.Question) {
		return func(q *alternative.Question) { q.Seen, q.Runs = seen, runs }
	}
	for rule, row := range map[string]struct {
		question alternative.Question
		state    string
		stances  string // of the five checks: r, s, o
		says     string
	}{
		"unreachable failures and no dose": {outage(), "refuted", "rrooo", "62 of 115 failures are on"},
		"no change given": {outage(func(q *alternative.Question) {
			q.Changed = false
		}), "no-change", "", "--diff"},
		"nobody knows what runs it": {outage(func(q *alternative.Question) {
			for _, s := range []*alternative.Stratum{&q.Classes[0], &q.Classes[1], &q.Outside} {
				*s = alternative.Stratum{Label: s.Label, FailedUnknown: s.FailedReach + s.FailedNoReach,
					PassedUnknown: s.PassedReach + s.PassedNoReach}
			}
		}), "open", "ooooo", "nothing speaks for it, and nothing against it"},
		"one refutation is not enough": {outage(func(q *alternative.Question) {
			for _, s := range []*alternative.Stratum{&q.Classes[0], &q.Classes[1], &q.Outside} {
				s.FailedUnknown, s.PassedUnknown = s.FailedReach+s.FailedNoReach, s.PassedReach+s.PassedNoReach
				s.FailedReach, s.PassedReach, s.FailedNoReach, s.PassedNoReach = 0, 0, 0, 0
			}
			q.Seen, q.Runs = 3, 9
		}), "open", "oorOo", "that alone is not enough"},
		"a dose":                         {regression(), "supported", "osooo", "4 of 8 cases and the others in 0 of 300"},
		"a dose, and others have it too": {regression(seen(2, 9)), "open", "osroo", "2 of 9 runs of other changes"},
		"others don't have it":           {regression(seen(0, 20)), "supported", "ossoo", "none of 20 runs"},
		"too few others":                 {regression(seen(0, 19)), "supported", "osooo", ""},
		"one other has it":               {regression(seen(1, 50)), "supported", "osooo", ""},
		"older than the change": {regression(func(q *alternative.Question) {
			q.FirstFailure, q.ChangedAt = noon, noon.Add(10*time.Minute)
		}), "open", "osoro", "is older than the change"},
		"older by less than clocks may differ": {regression(func(q *alternative.Question) {
			q.FirstFailure, q.ChangedAt = noon, noon.Add(9*time.Minute)
		}), "supported", "osooo", ""},
		"a place in the change": {alternative.Question{
			Changed: true, Subject: "the changed files", InPaths: 2, Place: "vmss.go:12",
			Outside: alternative.Stratum{FailedUnknown: 2, PassedUnknown: 90},
		}, "supported", "oooos", "2 failures are at vmss.go:12, which the change touches"},
		"a regression beside the outage": {outage(func(q *alternative.Question) {
			q.Outside.FailedReach, q.Outside.PassedReach = 4, 2
		}), "open", "rsooo", "among the scenarios that no cause explains"},
		"two unreachable failures are too few": {regression(func(q *alternative.Question) {
			q.Outside.FailedReach, q.Outside.FailedNoReach = 0, 2
		}), "open", "ooooo", ""},
		"others had it, and before the change": {regression(seen(3, 9), func(q *alternative.Question) {
			q.SeenFailures, q.SeenScenarios = 12, 924
			q.FirstFailure, q.ChangedAt = noon, noon.Add(time.Hour)
		}), "refuted", "osrro", "didn't do it"},
		"others had it far less often": {regression(seen(3, 9), func(q *alternative.Question) {
			q.Outside.FailedReach, q.SeenFailures, q.SeenScenarios = 8, 3, 924
		}), "supported", "osooo", "may have done it"},
		"beside an outage that others had too": {outage(seen(5, 9), func(q *alternative.Question) {
			q.SeenFailures, q.SeenScenarios = 570, 1600
			q.Outside.FailedReach, q.Outside.PassedReach = 4, 2
		}), "open", "rsroo", "that no cause explains"},
		"a small difference among few": {regression(func(q *alternative.Question) {
			q.Outside = alternative.Stratum{FailedReach: 4, PassedReach: 36, FailedNoReach: 1, PassedNoReach: 200}
		}), "open", "ooooo", "nothing speaks for it"},
	} {
		t.Run(rule, func(t *testing.T) {
			got := alternative.Evaluate(row.question, triage.Default())
			var stances strings.Builder
			for _, check := range got.Checks {
				stances.WriteString(string(check.Stance)[:1])
			}
			if got.State != row.state || stances.String() != strings.ToLower(row.stances) ||
				!strings.Contains(got.Text, row.says) {
				t.Errorf("%s %s: %s\n%+v", got.State, stances.String(), got.Text, got.Checks)
			}
		})
	}
}

// TestTheBoundOfTheWorkedExample: the change can't have done more than a tenth of cluster A's failures.
func TestTheBoundOfTheWorkedExample(t *testing.T) {
	got := alternative.Evaluate(outage(), triage.Default())
	if got.MaxShare == nil || *got.MaxShare > 0.12 || *got.MaxShare < 0.08 {
		t.Errorf("bound %v: %s", got.MaxShare, got.Text)
	}
	// Over all scenarios: 53 of 150 that run it, 62 of 170 that don't.
	got = alternative.Evaluate(alternative.Question{Changed: true, Subject: "it", Outside: alternative.Stratum{
		FailedReach: 53, PassedReach: 97, FailedNoReach: 62, PassedNoReach: 108,
	}}, triage.Default())
	d := got.Checks[1].Table.Difference
	for name, pair := range map[string][2]float64{
		"estimate": {d.Estimate, -0.011}, "lower": {d.Lower, -0.115}, "upper": {d.Upper, 0.093},
	} {
		if math.Abs(pair[0]-pair[1]) > 0.001 {
			t.Errorf("%s %.4f, want %.3f", name, pair[0], pair[1])
		}
	}
}
