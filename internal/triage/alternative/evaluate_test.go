package alternative_test

import (
	"fmt"
	"math"
	"slices"
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

// others are runs of other changes, of which some failed so, as a whole and among scenarios that run the change.
func others(whole, reaching []alternative.Rate) func(*alternative.Question) {
	return func(q *alternative.Question) {
		q.Runs = len(whole)
		all, failed := 0, 0
		for _, s := range append([]alternative.Stratum{q.Outside}, q.Classes...) {
			f := s.FailedReach + s.FailedNoReach + s.FailedUnknown
			failed, all = failed+f, all+f+s.PassedReach+s.PassedNoReach+s.PassedUnknown
		}
		q.Whole = alternative.Comparison{Here: alternative.Rate{Failed: failed, Of: all}, Others: whole}
		o := q.Outside
		q.Reaching = alternative.Comparison{Here: alternative.Rate{Failed: o.FailedReach + o.FailedUnknown,
			Of: o.FailedReach + o.PassedReach + o.FailedUnknown + o.PassedUnknown}, Others: reaching}
		seen := map[string]bool{}
		for _, r := range whole {
			if r.Failed > 0 {
				seen[r.Change] = true
			}
		}
		q.Seen = len(seen)
	}
}

// rates are runs of as many other changes, each with so many failures.
func rates(of int, failed ...int) []alternative.Rate {
	var out []alternative.Rate
	for i, f := range failed {
		out = append(out, alternative.Rate{Change: fmt.Sprint("pr-", i), Failed: f, Of: of})
	}
	return out
}

func TestAlternative(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	type edit = func(*alternative.Question)
	before := func(q *alternative.Question) { q.FirstElsewhere, q.ChangedAt = noon, noon.Add(time.Hour) }
	outside := func(s alternative.Stratum) edit { return func(q *alternative.Question) { q.Outside = s } }
	unknown := func(q *alternative.Question) {
		for _, s := range []*alternative.Stratum{&q.Classes[0], &q.Classes[1], &q.Outside} {
			*s = alternative.Stratum{Label: s.Label, FailedUnknown: s.FailedReach + s.FailedNoReach,
				PassedUnknown: s.PassedReach + s.PassedNoReach}
		}
	}
	environment := func(q *alternative.Question) { q.Environment = true }
	inPaths := func(q *alternative.Question) { q.InPaths, q.Place = 2, "vmss.go:12" }
	none := rates(320, slices.Repeat([]int{0}, 20)...)
	for rule, row := range map[string]struct {
		question alternative.Question
		state    string
		stances  string // of the five checks: r, s, o
		says     string
	}{
		"unreachable failures and no dose": {outage(), "refuted", "rrooo", "62 of 115 failures are on"},
		"no change given": {
			outage(func(q *alternative.Question) { q.Changed = false }),
			"no-change", "", "--diff",
		},
		"nobody knows what runs it": {
			outage(unknown),
			"open", "ooooo", "nothing speaks for it, and nothing against it",
		},
		"one refutation is not enough": {outage(unknown, others(rates(320, 100, 90, 0), nil)), "open", "oorOo",
			"that alone is not enough"},
		"others had it, and before the change": {
			outage(unknown, others(rates(320, 100, 90, 0), nil), before), "refuted", "oorro",
			"2 other changes failed so within 24 h, in 3 runs"},
		"a new outage is new to all, and no dose": {
			outage(environment, others(none, none)),
			"refuted", "rrsoo", "didn't do it",
		},
		"a new outage, and nobody knows what runs the change": {
			outage(environment, unknown, others(none, none)),
			"open", "oosoo", "",
		},
		"a place in the change says little of a bad cluster": {
			outage(environment, unknown, inPaths),
			"open", "oooos", "",
		},

		"a dose":               {regression(), "supported", "osooo", "4 of 8 cases and the others in 0 of 300"},
		"others don't have it": {regression(others(none, none)), "supported", "ossoo", "none of 20 runs"},
		"too few others":       {regression(others(none[1:], none[1:])), "supported", "osooo", ""},
		"others have it as often": {regression(others(rates(308, 5, 4, 3, 4), rates(8, 5, 4, 3, 4))), "open", "osroo",
			"4 other changes failed so within 24 h, in 4 runs"},
		"others have it as often, and had before": {regression(before, others(rates(308, 5, 4, 3, 4), rates(8, 5, 4, 3, 4))),
			"refuted", "osrro", "didn't do it"},
		"others had it, but far less often": {regression(before,
			outside(alternative.Stratum{FailedReach: 8, PassedNoReach: 300}),
			others(rates(308, 1, 0, 1, 0, 0, 1, 0, 0), rates(8, 1, 0, 1, 0, 0, 1, 0, 0))),
			"supported", "osooo", "may have done it"},
		"others had it elsewhere, and not where the change is": {regression(before,
			outside(alternative.Stratum{FailedReach: 4, PassedReach: 4, FailedNoReach: 2, PassedNoReach: 300}),
			others(rates(308, 6, 6, 5, 7, 6, 5), rates(8, 0, 0, 0, 0, 0, 0))), "supported", "osooo", "may have done it"},
		"perhaps less often": {
			regression(others(rates(308, 1, 0, 2, 0), rates(8, 1, 0, 2, 0))), "open", "osooo", "",
		},
		"older than the change": {regression(func(q *alternative.Question) {
			q.FirstFailure, q.ChangedAt = noon, noon.Add(10*time.Minute)
		}), "open", "osoro", "is older than the change"},
		"older by less than clocks may differ": {regression(func(q *alternative.Question) {
			q.FirstFailure, q.ChangedAt = noon, noon.Add(9*time.Minute)
		}), "supported", "osooo", ""},
		"what was rarer elsewhere is not older here": {regression(before,
			others(rates(308, 1, 0, 2, 0), rates(8, 1, 0, 2, 0))),
			"open", "osooo", ""},
		"a place in the change": {alternative.Question{
			Changed: true, Subject: "the changed files", InPaths: 2, Place: "vmss.go:12",
			Outside: alternative.Stratum{FailedUnknown: 2, PassedUnknown: 90},
		}, "supported", "oooos", "2 failures are at vmss.go:12, which the change touches"},

		"a regression beside the outage": {outage(
			outside(alternative.Stratum{FailedReach: 4, PassedReach: 77, PassedNoReach: 89})),
			"open", "rrooo", "that alone is not enough"},
		"a plain one": {outage(outside(alternative.Stratum{FailedReach: 4, PassedReach: 2, PassedNoReach: 89})),
			"open", "rsooo", "among the scenarios that no cause explains"},
		"beside an outage that others had too": {outage(before,
			outside(alternative.Stratum{FailedReach: 4, PassedReach: 2, PassedNoReach: 89}),
			others(rates(320, 110, 120), rates(6, 0, 0))), "open", "rsooo", "that no cause explains"},
		"one without a map, beside an outage that others had too": {outage(before, unknown, func(q *alternative.Question) {
			q.Outside = alternative.Stratum{FailedUnknown: 5, PassedUnknown: 163}
		}, others(rates(320, 110, 120), rates(168, 0, 0))), "open", "ooooo", ""},
		"one that hides where all kinds fail": {alternative.Question{Changed: true, Subject: "it",
			Outside: alternative.Stratum{FailedReach: 15, PassedReach: 25, FailedNoReach: 18, PassedNoReach: 42},
			Seen:    3, Runs: 3, FirstElsewhere: noon, ChangedAt: noon.Add(time.Hour),
			Whole:    alternative.Comparison{Here: alternative.Rate{Failed: 33, Of: 100}, Others: rates(100, 28, 30, 27)},
			Reaching: alternative.Comparison{Here: alternative.Rate{Failed: 15, Of: 40}, Others: rates(40, 9, 11, 10)},
		}, "open", "rooOo", ""},

		"few of those that run it, and nothing else": {regression(outside(alternative.Stratum{
			FailedReach: 7, PassedReach: 33, PassedNoReach: 200})), "supported", "osooo", "all 7 failures run"},
		"few of them, and one that doesn't run it": {regression(outside(alternative.Stratum{
			FailedReach: 7, PassedReach: 33, FailedNoReach: 1, PassedNoReach: 200})), "open", "ooooo", ""},
		"few of them, and nobody else had it": {regression(outside(alternative.Stratum{
			FailedReach: 4, PassedReach: 36, FailedNoReach: 1, PassedNoReach: 200}), others(none, none)),
			"supported", "ooSoo", "may have done it"},
		"nobody else had it, and it is anywhere": {regression(outside(alternative.Stratum{
			FailedReach: 2, PassedReach: 100, FailedNoReach: 2, PassedNoReach: 100}), others(none, none)), "open", "ooSoo", ""},
		"two unreachable failures are too few": {regression(func(q *alternative.Question) {
			q.Outside.FailedReach, q.Outside.FailedNoReach = 0, 2
		}), "open", "ooooo", ""},
		"a small difference among few": {regression(outside(alternative.Stratum{
			FailedReach: 4, PassedReach: 36, FailedNoReach: 1, PassedNoReach: 200})), "open", "ooooo", "nothing speaks for it"},
		"a cluster on which hardly anything else ran": {regression(
			func(q *alternative.Question) { q.Confined = "cluster=b" }),
			"open", "ooooo", "nothing speaks for it"},
		"scenarios without a result ran when the run ended": {regression(
			func(q *alternative.Question) { q.Unfinished = true }),
			"open", "ooooo", ""},
		"an operating system of its own, all of which runs the change": {alternative.Question{
			Changed: true, Subject: "it", Outside: alternative.Stratum{PassedNoReach: 200},
			Classes: []alternative.Stratum{{Label: "os=windows", FailedReach: 9, PassedReach: 3}},
		}, "supported", "osooo", "among all scenarios"},
		"a cluster of its own, all of which runs the change": {alternative.Question{
			Changed: true, Subject: "it", Outside: alternative.Stratum{PassedNoReach: 200}, Environment: true,
			Classes: []alternative.Stratum{{Label: "cluster=b", FailedReach: 9, PassedReach: 3}},
		}, "open", "ooooo", ""},
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
