package triagetest

import (
	"time"

	"salve/internal/triage"
	"salve/internal/triage/cause"
	"salve/internal/triage/decision"
)

// Noon is when all of it was asked.
func Noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func at(before time.Duration) *time.Time {
	t := Noon().Add(-before)
	return &t
}

func number(n int) *int { return &n }

// scenario is one of a run: where it ran, whether it runs the change, and how it failed; 0 if it passed.
type scenario struct {
	cluster string
	reach   decision.Reach
	way     int
}

// of is a number of scenarios that are alike.
func of(n int, s scenario) []scenario {
	var list []scenario
	for range n {
		list = append(list, s)
	}
	return list
}

// counted makes evidence of lists of scenarios, two of which are of a test each.
func counted(lists ...[]scenario) *decision.Scenarios {
	rows := &cause.Rows{Attributes: []cause.Attribute{{Name: "cluster", Values: []string{""}}}, Values: [][]uint32{nil}}
	numbers := map[string]uint32{"": 0}
	var reach []decision.Reach
	for _, list := range lists {
		for _, s := range list {
			if _, known := numbers[s.cluster]; !known {
				numbers[s.cluster] = uint32(len(numbers)) //nolint:gosec // a handful
				rows.Attributes[0].Values = append(rows.Attributes[0].Values, s.cluster)
			}
			rows.Tests = append(rows.Tests, len(rows.Tests)/2)
			rows.Outcomes = append(rows.Outcomes, cause.Outcome(s.way))
			rows.Values[0] = append(rows.Values[0], numbers[s.cluster])
			reach = append(reach, s.reach)
		}
	}
	return decision.Count(rows, reach, triage.Default())
}

// OutageEvidence is a bad cluster: 30 of its 34 scenarios fail, and 2 elsewhere, in two ways that one signature knows;
// 60 others pass. The change is innocent, and other changes have the failure as well.
func OutageEvidence() decision.Evidence {
	return decision.Evidence{
		Observed: decision.Observed{
			Counts:    triage.Counts{Scenarios: 97, Tests: 49, Passed: 64, Failed: 32, Skipped: 1, Flaky: 2},
			Baselines: []*int{number(90), nil},
			Change:    &decision.Change{Files: 3, Components: []string{"node-controller"}, At: at(time.Hour)},
			Ways: []decision.Way{
				{
					Key: "g1-a", Message: "pod web not ready", Failures: 20, Scenario: "TestA/1", Place: "wait.go:7", Finished: 20,
					Insisted: 2, First: at(3 * time.Hour), Producers: []string{"test"},
					Shows: []decision.Shows{{Signature: 0, Failures: 19, InText: 19}},
				},
				{
					Key: "g1-b", Message: "pod db not ready", Failures: 12, Scenario: "TestB/1", Place: "wait.go:7", Finished: 12,
					Insisted: 1, First: at(2 * time.Hour), Producers: []string{"test", "cluster"},
					Shows: []decision.Shows{{Signature: 0, Failures: 12, InText: 12}, {Signature: 1, Failures: 3}},
				},
			},
			Signatures: []decision.Signature{
				{
					ID: "pod-timeout", Title: "Pods time out", Class: "infrastructure", Owner: "team-a", Links: []string{"https://a"},
					Action: "ask team-a", ValidUntil: "2027-01-01", Passing: 1, Producers: []string{"machine"},
					Escalation: &decision.Escalation{Count: 4, Days: 10},
				},
				{ID: "noise", Title: "Noise", Class: "product", Links: []string{}, Expired: true, Producers: []string{}},
			},
			Scenarios: counted(
				of(2, scenario{"b", decision.Yes, 1}), of(9, scenario{"a", decision.Yes, 1}),
				of(9, scenario{"a", decision.No, 1}), of(6, scenario{"a", decision.No, 2}),
				of(5, scenario{"a", decision.Yes, 2}), of(1, scenario{"a", decision.Unknown, 2}),
				of(2, scenario{"a", decision.Yes, 0}), of(2, scenario{"a", decision.No, 0}), of(20, scenario{"b", decision.Yes, 0}),
				of(20, scenario{"c", decision.No, 0}), of(18, scenario{"", decision.No, 0}),
				of(2, scenario{"rare", decision.No, 0}),
			),
		},
		Past: decision.Past{
			Now: Noon(), History: decision.Asked, Hours: 24, Sizes: &decision.Sizes{Days: 30, Runs: 9, Fewest: 92},
			Runs: []decision.Answer{
				{Question: decision.Question{Ways: []int{0, 1}, Signature: "pod-timeout"}, Spans: []decision.Span{
					{Hours: 20, Runs: 3, Of: 270, Otherwise: []int{2}},
					{Hours: 9, Runs: 1, Change: "pr-7", At: at(9*time.Hour + time.Minute), Failed: 28, Of: 90},
					{Hours: 4, Runs: 1, Change: "pr-8", At: at(4*time.Hour + time.Minute), Failed: 25, Of: 90},
					{Hours: 3, Runs: 1, Change: "pr-8", At: at(3*time.Hour + time.Minute), Failed: 27, Of: 90},
					{Hours: 1, Runs: 2, Of: 90},
				}},
				{Question: decision.Question{
					Ways: []int{0, 1}, Signature: "pod-timeout", MayReach: true, Without: []string{"cluster=a"},
				}, Spans: []decision.Span{
					{Hours: 9, Runs: 1, Change: "pr-7", Failed: 14, Of: 40}, {Hours: 4, Runs: 1, Change: "pr-8", Failed: 12, Of: 40},
				}},
			},
			Occurrences: []decision.Occurrences{{
				Key: "g1-a", Signature: "pod-timeout", Rule: decision.Rule{Count: 4, Days: 10, Calm: 3}, Count: 3,
				First: Noon().AddDate(0, 0, -8), Times: []time.Time{Noon().AddDate(0, 0, -8), Noon().AddDate(0, 0, -1), Noon()},
			}},
		},
	}
}

// RegressionEvidence is a failure of what runs the change, at a place that it touches. Others have it too, but rarely.
func RegressionEvidence() decision.Evidence {
	return decision.Evidence{
		Observed: decision.Observed{
			Counts: triage.Counts{Scenarios: 80, Tests: 40, Passed: 68, Failed: 12},
			Change: &decision.Change{Files: 1, Components: []string{"gpu", "csi"}},
			Ways: []decision.Way{{
				Key: "g1-c", Message: "volume not mounted", Failures: 12, Scenario: "TestGPU/1", Place: "gpu.go:12", Finished: 12,
				First: at(time.Hour), Touched: 12, TouchedAt: "gpu.go:12", Producers: []string{"test", "kubelet"},
			}},
			Scenarios: counted(
				of(12, scenario{"a", decision.Yes, 1}), of(4, scenario{"b", decision.Yes, 0}),
				of(32, scenario{"b", decision.No, 0}), of(32, scenario{"a", decision.No, 0}),
			),
		},
		Past: decision.Past{
			Now: Noon(), History: decision.Asked, Hours: 24, Sizes: &decision.Sizes{Days: 30},
			Runs: []decision.Answer{
				{Question: decision.Question{Ways: []int{0}}, Spans: []decision.Span{
					{Hours: 5, Runs: 20, Of: 1600}, {Hours: 4, Runs: 1, Change: "pr-9", At: at(4 * time.Hour), Failed: 1, Of: 80},
				}},
				{Question: decision.Question{Ways: []int{0}, MayReach: true}, Spans: []decision.Span{
					{Hours: 5, Runs: 20, Of: 320}, {Hours: 4, Runs: 1, Change: "pr-9", At: at(4 * time.Hour), Failed: 1, Of: 64},
				}},
			},
			Occurrences: []decision.Occurrences{{
				Key: "g1-c", Rule: decision.Rule{Count: 6, Days: 30, Calm: 3}, Count: 7, Escalated: true,
				First: Noon().AddDate(0, 0, -9),
			}},
		},
	}
}

// FreshEvidence is a failure that no other change had: its scenarios failed in another way. Nobody knows what runs the
// change, and the run has fewer scenarios than usual.
func FreshEvidence() decision.Evidence {
	e := RegressionEvidence()
	e.Observed.Ways[0].Place, e.Observed.Ways[0].Touched, e.Observed.Ways[0].TouchedAt = "", 0, ""
	e.Observed.Scenarios.Reach = nil
	e.Past.Runs = []decision.Answer{{Question: decision.Question{Ways: []int{0}}, Spans: []decision.Span{
		{Hours: 7, Runs: 12, Of: 900, Otherwise: []int{6, 5}}, {Hours: -1, Runs: 1, Of: 80},
	}}}
	e.Past.Sizes = &decision.Sizes{Days: 30, Runs: 5, Fewest: 100}
	return e
}

// SuspectEvidence is a regression at no place of its own.
func SuspectEvidence() decision.Evidence {
	e := RegressionEvidence()
	e.Observed.Ways[0].Place, e.Observed.Ways[0].Touched, e.Observed.Ways[0].TouchedAt = "", 0, ""
	e.Past.History, e.Past.Runs, e.Past.Occurrences, e.Past.Sizes = decision.NoHistory, nil, nil, nil
	return e
}

// BrokenEvidence is a run that broke off, without anything beside its results.
func BrokenEvidence() decision.Evidence {
	return decision.Evidence{
		Observed: decision.Observed{
			Counts:  triage.Counts{Scenarios: 12, Tests: 6, Passed: 9, Failed: 3},
			Aborted: &triage.Aborted{Reason: "unfinished", Text: "what ran them ended first", Expected: 20, Found: 12},
			Ways: []decision.Way{
				{Key: "g1-d", Failures: 2, Scenario: "TestA", Recovered: 1, Insisted: 3, Producers: []string{"test"}},
				{Key: "g1-e", Failures: 1, Scenario: "TestB", Finished: 1, Insisted: 3, Producers: []string{"test"}},
			},
			Scenarios: counted(of(2, scenario{"a", decision.Unknown, 1}), of(1, scenario{"a", decision.Unknown, 2}),
				of(9, scenario{"b", decision.Unknown, 0})),
		},
		Past: decision.Past{Now: Noon(), History: decision.NoHistory, Hours: 24},
	}
}

// WithoutScenarios is a run whose scenarios are left out: what was counted in them is there.
func WithoutScenarios(e decision.Evidence) decision.Evidence {
	examined, err := decision.Examine(e.Observed, triage.Default())
	if err != nil {
		panic(err)
	}
	e.Observed.Scenarios, e.Observed.Omitted = nil, "left out: they take too much"
	e.Examined = examined
	return e
}

// Evidence are evidence of several kinds, by name.
func Evidence() map[string]decision.Evidence {
	zoneless := WithoutScenarios(SuspectEvidence())
	zoneless.Examined.Groups[0].Unknown = []string{"zone"}
	return map[string]decision.Evidence{
		"outage": OutageEvidence(), "regression": RegressionEvidence(), "fresh": FreshEvidence(),
		"suspect": SuspectEvidence(), "broken": BrokenEvidence(),
		"too many, of an outage":    WithoutScenarios(OutageEvidence()),
		"too many, of a regression": WithoutScenarios(RegressionEvidence()),
		"too many, of a suspect":    zoneless,
		"passed": {Observed: decision.Observed{
			Counts: triage.Counts{Scenarios: 5, Passed: 5}, Omitted: "no scenario failed",
		}},
	}
}
