package decision

import (
	"testing"

	"salve/internal/triage"
)

// found is a group with a cause.
func found(failures, unexplained int, v triage.Verdict, state string, candidates ...triage.Candidate) Group {
	return Group{
		Failures: failures, Verdict: v, Confidence: triage.Medium,
		Cause:       triage.Cause{State: state, Unexplained: unexplained, Candidates: candidates},
		Alternative: triage.Alternative{State: "no-change"},
	}
}

// TestTheSummarySaysWhatAReaderTakesAway who reads no more.
func TestTheSummarySaysWhatAReaderTakesAway(t *testing.T) {
	a, unknown := triage.Candidate{Attribute: "cluster", Value: "a"}, triage.Candidate{Attribute: "zone"}
	share := 0.07
	refuted := found(9, 1, triage.KnownInfrastructure, "found", a, unknown)
	refuted.Alternative = triage.Alternative{State: "refuted", MaxShare: &share}
	refuted.Signatures = []triage.Signature{
		{ID: "old", Failures: 9, Expired: true}, {ID: "timeout", Failures: 8}, {ID: "noise"},
	}
	supported := found(2, 2, triage.SuspectedChange, "undecided")
	supported.Alternative.State = "supported"
	open := found(20, 3, triage.Undecided, "undecided", a)
	open.Alternative.State = "open"
	aborted := &triage.Aborted{Text: "it crashed"}
	for name, row := range map[string]struct {
		counts  triage.Counts
		aborted *triage.Aborted
		groups  []Group
		want    string
	}{
		"all passed":  {triage.Counts{Passed: 7}, nil, nil, "All 7 scenarios passed."},
		"and skipped": {triage.Counts{Passed: 7, Skipped: 2}, nil, nil, "All 7 scenarios passed, 2 were skipped."},
		"and flaky": {triage.Counts{Passed: 7, Flaky: 1}, nil, nil,
			"All 7 scenarios passed; 1 of them only when tried again."},
		"none failed, and it was aborted": {triage.Counts{Scenarios: 7, Passed: 7}, aborted, nil,
			"No scenario of 7 failed, but the run was aborted: it crashed."},
		"one group": {triage.Counts{Scenarios: 30, Failed: 9}, nil, []Group{refuted},
			"9 of 30 scenarios failed, in 1 way: 8 of 9 go with cluster=a and an unknown zone; 8 show the signature timeout; " +
				"the change didn't do it (at most 7 % of them)."},
		"a cause that is none, in an aborted run": {triage.Counts{Scenarios: 30, Failed: 20}, aborted, []Group{open},
			"20 of 30 scenarios failed, in 1 way: 17 of 20 go with cluster=a, which is too little to call it the cause; " +
				"whether the change did it is open. The run was aborted: it crashed."},
		"the first, and the largest": {triage.Counts{Scenarios: 90, Failed: 31}, nil, []Group{supported, refuted, open},
			"31 of 90 scenarios failed, in 3 ways: 2 suspected-change, 20 undecided, 9 known-infrastructure. " +
				"Of 2 failures: the change may have done it. Of the largest group, 20 failures: 17 of 20 go with cluster=a, " +
				"which is too little to call it the cause; whether the change did it is open."},
		"the first is the largest": {triage.Counts{Scenarios: 90, Failed: 29}, nil,
			[]Group{open, found(1, 1, triage.Undecided, "undecided")},
			"29 of 90 scenarios failed, in 2 ways. Of 20 failures: 17 of 20 go with cluster=a, which is too little to call it " +
				"the cause; whether the change did it is open."},
		"failures of no group, as a file may say": {triage.Counts{Scenarios: 9, Failed: 3}, nil, nil,
			"3 of 9 scenarios failed, in 0 ways."},
		"one failure first": {triage.Counts{Scenarios: 90, Failed: 3}, nil,
			[]Group{found(1, 1, triage.New, "undecided"), found(1, 1, triage.New, "undecided")},
			"3 of 90 scenarios failed, in 2 ways. Of 1 failure: no change was given to compare with."},
	} {
		d := Decision{Groups: row.groups, Aborted: row.aborted}
		if d.overall(row.counts); d.Summary != row.want {
			t.Errorf("%s: %q, want %q", name, d.Summary, row.want)
		}
	}
}

// TestTheConfidenceIsTheLowestOfTheWorstGroups.
func TestTheConfidenceIsTheLowestOfTheWorstGroups(t *testing.T) {
	group := func(v triage.Verdict, c triage.Confidence) Group { return Group{Verdict: v, Confidence: c} }
	for name, row := range map[string]struct {
		aborted *triage.Aborted
		groups  []Group
		want    triage.Confidence
	}{
		"no failure": {nil, nil, triage.High},
		"of two that are as bad": {nil, []Group{group(triage.New, triage.High), group(triage.New, triage.Medium),
			group(triage.KnownProduct, triage.Low)}, triage.Medium},
		"nothing but aborted": {&triage.Aborted{}, nil, triage.Low},
	} {
		d := Decision{Groups: row.groups, Aborted: row.aborted}
		if d.overall(triage.Counts{}); d.Confidence != row.want {
			t.Errorf("%s: %s, want %s", name, d.Confidence, row.want)
		}
	}
}
