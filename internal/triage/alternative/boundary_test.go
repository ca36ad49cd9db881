package alternative_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
)

// rate is one other run's.
func rate(change string, failed, of int) alternative.Rate {
	return alternative.Rate{Change: change, Failed: failed, Of: of}
}

// zeros are runs of other changes in which nothing failed.
func zeros(n, of int) []alternative.Rate { return rates(of, slices.Repeat([]int{0}, n)...) }

// whole compares a group of failures with other runs, without knowing what any scenario runs.
func whole(here alternative.Rate, others ...alternative.Rate) alternative.Question {
	q := alternative.Question{
		Changed: true, Subject: "it", Runs: len(others),
		// One that can't run the change, so that not all of them stand or fall with it.
		Outside: alternative.Stratum{FailedUnknown: here.Failed, PassedUnknown: here.Of - here.Failed, PassedNoReach: 1},
		Whole:   alternative.Comparison{Here: here, Others: others},
	}
	seen := map[string]bool{}
	for _, other := range others {
		if other.Failed > 0 {
			seen[other.Change] = true
		}
	}
	q.Seen = len(seen)
	return q
}

func TestOneCheckAtItsThreshold(t *testing.T) {
	limits := triage.Default()
	small, few := limits.SmallCauseFailures, limits.CauseFailures
	only := func(s alternative.Stratum) alternative.Question {
		return alternative.Question{Changed: true, Subject: "it", Outside: s}
	}
	often := []alternative.Rate{rate("pr-1", 110, 320), rate("pr-2", 120, 320)}
	beside := outage(func(q *alternative.Question) {
		q.Outside = alternative.Stratum{FailedReach: 4, PassedReach: 60, FailedNoReach: 4, PassedNoReach: 60}
	}, others(often, zeros(2, 64)))
	everywhere := func(reach, elsewhere int) alternative.Question {
		q := only(alternative.Stratum{FailedReach: reach, PassedReach: 20, FailedNoReach: 20, PassedNoReach: 60})
		others([]alternative.Rate{rate("pr-1", 23, 103), rate("pr-2", 24, 103)}, zeros(2, elsewhere))(&q)
		return q
	}
	for rule, row := range map[string]struct {
		question alternative.Question
		check    string
		want     triage.Stance
		says     string
	}{
		"just enough failures that can't be the change's": {
			only(alternative.Stratum{FailedNoReach: limits.UnreachableFailures, PassedReach: 9, PassedNoReach: 90}),
			alternative.Unreachable, triage.Refutes, "are on scenarios that don't run it",
		},
		"one less": {
			only(alternative.Stratum{FailedNoReach: limits.UnreachableFailures - 1, PassedReach: 9, PassedNoReach: 90}),
			alternative.Unreachable, triage.Open, "needed",
		},
		"what runs the change is not known of any failure": {
			only(alternative.Stratum{FailedUnknown: 5, PassedReach: 9, PassedNoReach: 90}),
			alternative.Unreachable, triage.Open, "which scenarios run it is not known",
		},
		"no other run": {whole(rate("", 9, 100)), alternative.Prior, triage.Open, "no run of another change"},
		"one other run": {whole(rate("", 9, 100), rate("pr-1", 9, 100)), alternative.Prior, triage.Open,
			"too few to tell"},

		"beside a cause, what others saw as a whole counts": {beside, alternative.Prior, triage.Refutes, "failed so"},
		"what hides among all kinds is compared where it is": {
			everywhere(small, 23), alternative.Prior, triage.Open, "not as often",
		},
		"also where others ran too few of these to tell": {
			everywhere(small, 3), alternative.Prior, triage.Open, "not as often",
		},
		"unless it is too little to hide": {everywhere(small-1, 23), alternative.Prior, triage.Refutes, "failed so"},

		"the run in which it was found says nothing of how often it is": {
			whole(rate("", 20, 100), rate("pr-1", 50, 100), rate("pr-2", 1, 100), rate("pr-3", 1, 100)),
			alternative.Prior, triage.Open, "not as often",
		},
		"two changes that were hit as badly, and many that were not": {
			whole(rate("", few, 100), append([]alternative.Rate{rate("pr-a", few, 100), rate("pr-b", few, 100)},
				zeros(20, 100)...)...),
			alternative.Prior, triage.Refutes, "2 other changes",
		},
		"two that were hit, but hardly": {
			whole(rate("", 50, 100), rate("pr-a", few, 1000), rate("pr-b", few, 1000)),
			alternative.Prior, triage.Open, "not as often",
		},
		"two that are as rarely hit": {
			whole(rate("", 2, 100), rate("pr-a", 2, 100), rate("pr-b", 2, 100)),
			alternative.Prior, triage.Refutes, "2 other changes",
		},

		"nothing to compare with": {only(alternative.Stratum{FailedReach: 4, PassedReach: 4}), alternative.Dose,
			triage.Open, "among all scenarios there are none to compare"},
		"the smallest group that goes with the change": {
			only(alternative.Stratum{FailedReach: small, PassedNoReach: 300}), alternative.Dose, triage.Supports, "fail in",
		},
		"one failure less": {
			only(alternative.Stratum{FailedReach: small - 1, PassedNoReach: 300}), alternative.Dose, triage.Open, "",
		},
		"just enough failures that all run it, of many that do": {
			only(alternative.Stratum{FailedReach: few, PassedReach: 60, PassedNoReach: 6000}),
			alternative.Dose, triage.Supports, "failures run it",
		},
		"too few of them": {
			only(alternative.Stratum{FailedReach: few - 1, PassedReach: 60, PassedNoReach: 6000}),
			alternative.Dose, triage.Open, "",
		},
	} {
		t.Run(rule, func(t *testing.T) {
			for _, got := range alternative.Evaluate(row.question, limits).Checks {
				if got.Name == row.check && (got.Stance != row.want || !strings.Contains(got.Text, row.says)) {
					t.Errorf("%s %s: %s", got.Name, got.Stance, got.Text)
				}
			}
		})
	}
}

// What goes with the change is told apart only where nothing else may be behind it.
func TestTested(t *testing.T) {
	limits := triage.Default()
	base := func(failed int, edits ...func(*alternative.Question)) alternative.Question {
		return regression(append([]func(*alternative.Question){func(q *alternative.Question) {
			q.Outside = alternative.Stratum{FailedReach: failed, PassedReach: 4, PassedNoReach: 300}
		}}, edits...)...)
	}
	for rule, row := range map[string]struct {
		question alternative.Question
		want     bool
	}{
		"just enough failures":    {base(limits.SmallCauseFailures), true},
		"too few failures":        {base(limits.SmallCauseFailures - 1), false},
		"no change is known":      {base(9, func(q *alternative.Question) { q.Changed = false }), false},
		"the run ended":           {base(9, func(q *alternative.Question) { q.Unfinished = true }), false},
		"the environment is bad":  {base(9, func(q *alternative.Question) { q.Environment = true }), false},
		"all of it ran elsewhere": {base(9, func(q *alternative.Question) { q.Confined = "cluster=b" }), false},
	} {
		t.Run(rule, func(t *testing.T) {
			if got := alternative.Tested(row.question, limits); got != row.want {
				t.Errorf("tested: %v", got)
			}
		})
	}
}

// Runs without the failure don't make it rarer where it was seen.
func TestHowMuchWorseIsAskedOfRunsThatHadIt(t *testing.T) {
	few := append([]alternative.Rate{rate("pr-a", 1, 8), rate("pr-b", 2, 8)}, zeros(30, 8)...)
	got := alternative.Evaluate(regression(others(few, few)), triage.Default())
	if got.State != alternative.Open {
		t.Errorf("%s: %s", got.State, got.Text)
	}
}

func TestWhatSpeaksAgainstASupportedChangeIsSaid(t *testing.T) {
	got := alternative.Evaluate(alternative.Question{Changed: true, Subject: "it", InPaths: 2, Place: "vmss.go:12",
		Outside: alternative.Stratum{FailedReach: 1, PassedReach: 1000, FailedNoReach: 2, PassedNoReach: 20},
	}, triage.Default())
	if got.State != alternative.Supported || !strings.Contains(got.Text, "; against it: among all scenarios") {
		t.Errorf("%s: %s", got.State, got.Text)
	}
}
