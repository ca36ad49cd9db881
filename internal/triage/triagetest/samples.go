package triagetest

import (
	"time"

	"salve/internal/triage"
	"salve/internal/triage/statistics"
)

// Sample is a document with the name that its golden files go by.
type Sample struct {
	Name     string
	Document triage.Document
}

// Samples are one of each kind.
func Samples() []Sample {
	return []Sample{
		{"outage", Outage()}, {"suspected-change", SuspectedChange()}, {"aborted", Aborted()},
		{"no-failure", NoFailure()}, {"hostile", Hostile()},
	}
}

// Outage is two shared clusters that fail 115 scenarios of 75 tests, on a change that has nothing to do with it.
func Outage() triage.Document {
	doc := document("rollout-4711")
	doc.Verdict, doc.Confidence = triage.KnownInfrastructure, triage.Medium
	doc.Summary = "115 of 320 scenarios failed, in 1 way: 115 of 115 go with cluster=a and cluster=b; 109 show the " +
		"signature shared-cluster-timeout; the change didn't do it (at most 10 % of them)."
	doc.Counts = triage.Counts{Scenarios: 320, Tests: 210, Passed: 205, Failed: 115, Flaky: 3}
	doc.Change = &triage.Change{Files: 4, Components: []string{"node-controller"}, Mapped: true}
	doc.Groups = []triage.Group{outageGroup()}
	doc.Heat = []triage.Heat{
		heat("cluster", "a", 8, 104), heat("cluster", "b", 29, 11), heat("cluster", "c", 84, 0),
		heat("cluster", "d", 52, 0), heat("cluster", "e", 32, 0),
		heat("bootstrap", "default", 108, 62), heat("bootstrap", "scriptless", 97, 53),
		heat("arch", "amd64", 150, 83), heat("arch", "arm64", 55, 32),
		heat("region", "westeurope", 8, 104), heat("region", "", 197, 11),
	}
	doc.Timeline = timeline(
		[]int{14, 22, 25, 24, 18, 12, 9, 8, 12, 16, 21, 24},
		[]int{0, 0, 1, 3, 9, 16, 22, 24, 19, 12, 7, 2})
	doc.Notes = []string{"region: 208 of 320 scenarios don't say theirs"}
	return doc
}

func outageGroup() triage.Group {
	share := 0.10
	dose := reached(statistics.Table{FailedWith: 53, PassedWith: 97, FailedWithout: 62, PassedWithout: 108})
	return triage.Group{
		Key:     "g1-6f2d81c09ab4",
		Message: "pod <name> not ready after <duration>: dial tcp <ip>:<port>: i/o timeout",
		Frame:   "e2e.WaitForPodReady", Place: "test/e2e/wait.go:214",
		Failures: 115, Tests: 75,
		Scenarios: []string{"TestNodeJoin/ubuntu/default", "TestNodeJoin/ubuntu/scriptless", "TestDrain/azurelinux/default"},
		Example: triage.Excerpt{
			Scenario: "TestNodeJoin/ubuntu/default", File: "logs/node-join.log.gz", Line: 8812,
			Text: "08:41:07 wait.go:214: pod web-7f9c5 not ready after 10m0s\n" +
				"08:41:07 dial tcp 10.2.0.14:443: i/o timeout\n08:41:07 --- FAIL: TestNodeJoin/ubuntu/default (612.40s)",
		},
		Verdict: triage.KnownInfrastructure, Confidence: triage.Medium, Flakiness: triage.FlakinessUnknown,
		Reasons: []string{
			"115 failures", "the change is refuted", "signature shared-cluster-timeout", "115 of 115 failures explained",
			"evidence from one producer only (test)",
		},
		Signatures: []triage.Signature{{
			ID: "shared-cluster-timeout", Title: "A shared test cluster does not answer", Class: "infrastructure",
			Owner: "team fleet", Links: []string{"https://example.org/runbooks/shared-cluster"}, Failures: 109,
		}},
		Cause: triage.Cause{
			State: "found",
			Text: "115 of 115 failures go with cluster=a (= network=kubenet: can't be told apart in this run) (104 of 112 " +
				"fail, 92.9 %, against 11 of 208, 5.3 %), and of what is left cluster=b (11 of 40 fail, 27.5 %, against 0 of " +
				"168, 0.0 %). No attribute holds just these together: a cause above them can't be judged",
			Candidates: []triage.Candidate{
				Candidate("cluster", "a", statistics.Table{FailedWith: 104, PassedWith: 8, FailedWithout: 11, PassedWithout: 197},
					"network=kubenet"),
				Candidate("cluster", "b", statistics.Table{FailedWith: 11, PassedWith: 29, PassedWithout: 168}),
			},
			Unjudged: []string{"region: recorded for cluster a only, so that a cause above both can't be judged"},
		},
		Alternative: triage.Alternative{
			State: "refuted", MaxShare: &share,
			Text: "component node-controller didn't do it: 62 of 115 failures are on scenarios that don't run component " +
				"node-controller",
			Checks: []triage.ChangeCheck{
				{Name: "unreachable", Stance: triage.Refutes, Text: "62 of 115 failures are on scenarios that don't run it"},
				{Name: "dose", Stance: triage.Refutes, Text: "at most 10.0 % of the failures can be its doing", Table: dose},
				{Name: "baseline", Stance: triage.Open, Text: "no run of another change within 24 h is known"},
				{Name: "order", Stance: triage.Open, Text: "when the change came and when the failures began is not known"},
				{Name: "product", Stance: triage.Open, Text: "no panic, and no place inside the node controller"},
			},
		},
		Baseline: triage.BaselineSays{
			Answer: triage.NotEnoughHistory, Text: "0 runs of other changes within 24 h are known, of 20 needed to call it new",
		},
		Evidence: []triage.Evidence{
			{Producer: "test log", Text: "dial tcp 10.2.0.14:443: i/o timeout", File: "logs/node-join.log.gz", Line: 8813},
			{Producer: "test log", Text: "pod web-7f9c5 not ready after 10m0s", File: "logs/drain.log.gz", Line: 122},
		},
		WouldChange: []string{
			"failures of this kind on scenarios without cluster=a and cluster=b",
			"20 runs of other changes without one such failure",
		},
		Action: "look after cluster=a and cluster=b; run the failed scenarios again elsewhere",
		Occurrences: &triage.Occurrences{
			Of: "shared-cluster-timeout", Count: 4, Threshold: 6, Days: 30, Owner: "team fleet",
			First: start().Add(-21 * 24 * time.Hour),
		},
	}
}

// SuspectedChange is a regression in four scenarios' component beside a flaky network.
func SuspectedChange() triage.Document {
	doc := document("pr-1882")
	doc.Verdict, doc.Confidence, doc.Mixed = triage.SuspectedChange, triage.High, true
	doc.Summary = "24 scenarios that use the scale-down path panic inside the files that the change touches; no other " +
		"run of the last 24 h has it. 7 more failures are the network's."
	doc.Counts = triage.Counts{Scenarios: 280, Tests: 140, Passed: 243, Failed: 31, Skipped: 6, Flaky: 5}
	doc.Change = &triage.Change{
		Files: 2, Components: []string{"autoscaler"}, Unmapped: []string{"README.md"}, Mapped: true,
	}
	doc.Groups = []triage.Group{regression(), flakyNetwork()}
	doc.Heat = []triage.Heat{
		heat("component", "autoscaler", 4, 24, 1), heat("component", "network", 121, 0, 4),
		heat("component", "storage", 118, 0, 2),
		heat("region", "eastus", 130, 12, 6), heat("region", "westeurope", 113, 12, 1),
	}
	doc.Timeline = timeline(
		[]int{20, 31, 33, 30, 28, 25, 27, 29, 20},
		[]int{0, 2, 3, 4, 4, 3, 4, 3, 1},
		[]int{0, 1, 0, 0, 2, 2, 1, 1, 0})
	return doc
}

func regression() triage.Group {
	return triage.Group{
		Key: "g1-b04c77d2e610", Message: "panic: runtime error: index out of range [<n>] with length <n>",
		Frame: "autoscaler.(*Planner).shrink", Place: "pkg/autoscaler/planner.go:188",
		Failures: 24, Tests: 4,
		Scenarios: []string{"TestScaleDown/empty-pool", "TestScaleDown/last-node", "TestScaleToZero"},
		Example: triage.Excerpt{
			Scenario: "TestScaleToZero", File: "junit/scale.xml", Line: 41,
			Text: "panic: runtime error: index out of range [0] with length 0\n\ngoroutine 71 [running]:\n" +
				"autoscaler.(*Planner).shrink(0xc0001a2000)\n\tpkg/autoscaler/planner.go:188 +0x1d4",
		},
		Verdict: triage.SuspectedChange, Confidence: triage.High, Flakiness: triage.Deterministic,
		Reasons: []string{"two producers: the tests' own logs and the controller's log", "24 failures"},
		Cause: triage.Cause{
			State: "found",
			Text:  "scenarios of the autoscaler fail 24 of 28 times (85.7 %), all others never.",
			Candidates: []triage.Candidate{
				Candidate("component", "autoscaler", statistics.Table{FailedWith: 24, PassedWith: 4, PassedWithout: 239}),
			},
			Explained: []triage.Candidate{{
				Attribute: "pool", Value: "spot", FailedWith: 10, PassedWith: 60, FailedWithout: 14, PassedWithout: 183,
				ExplainedBy: "component=autoscaler",
			}},
		},
		Alternative: triage.Alternative{
			State: "supported", Text: "the panic is in pkg/autoscaler/planner.go, which the change touches.",
			Checks: []triage.ChangeCheck{
				{Name: "unreachable", Stance: triage.Open, Text: "no failure on a scenario that can't reach the change"},
				{Name: "dose", Stance: triage.Supports, Text: "scenarios that reach it fail 85.7 points more often",
					Table: reached(statistics.Table{FailedWith: 24, PassedWith: 4, PassedWithout: 239})},
				{Name: "baseline", Stance: triage.Supports, Text: "in none of 41 runs of other changes"},
				{Name: "product", Stance: triage.Supports, Text: "panic in pkg/autoscaler/planner.go:188"},
			},
		},
		Baseline: triage.BaselineSays{Answer: triage.NewFailure, Text: "in none of 41 runs of other changes", Runs: 41},
		Evidence: []triage.Evidence{
			{Producer: "test log", Text: "panic: runtime error: index out of range [0] with length 0",
				File: "junit/scale.xml", Line: 41},
			{Producer: "controller log", Text: "planner.go:188 recovered: index out of range",
				File: "logs/autoscaler.log", Line: 9021},
		},
		WouldChange: []string{"the same panic in a run without the change"},
		Action:      "Don't merge: look at pkg/autoscaler/planner.go:188.",
	}
}

func flakyNetwork() triage.Group {
	return triage.Group{
		Key: "g1-09e1d5aa4c3b", Message: "Get <url>: net/http: TLS handshake timeout",
		Failures: 7, Tests: 6,
		Scenarios: []string{"TestIngress/http2", "TestUpgrade/one-minor"},
		Example: triage.Excerpt{
			Scenario: "TestIngress/http2", File: "junit/net.xml", Line: 7,
			Text: "Get \"https://registry.example/v2/\": net/http: TLS handshake timeout",
		},
		Verdict: triage.KnownInfrastructure, Confidence: triage.Low, Flakiness: triage.Flaky,
		Reasons:     []string{"7 failures only, no cause found"},
		Cause:       triage.Cause{State: "undecided", Text: "no attribute's value stands out.", Unexplained: 7},
		Alternative: triage.Alternative{State: "refuted", Text: "seen in 9 runs of other changes in the last 24 h."},
		Baseline: triage.BaselineSays{
			Answer: triage.PreExisting, Text: "in 9 of 41 runs of other changes", Seen: 9, Runs: 41,
		},
		Evidence:    []triage.Evidence{{Producer: "history", Text: "seen in 9 of 41 runs"}},
		WouldChange: []string{"no such failure in the runs of other changes"},
		Action:      "Escalate: re-running has stopped helping.",
		Occurrences: &triage.Occurrences{
			Of: "g1-09e1d5aa4c3b", Count: 9, Threshold: 6, Days: 30, Escalated: true, Owner: "team network",
			First: start().Add(-12 * 24 * time.Hour),
		},
	}
}

// Aborted is a suite that a time limit ended.
func Aborted() triage.Document {
	doc := document("nightly-2291")
	doc.Verdict, doc.Confidence = triage.Undecided, triage.Low
	doc.Summary = "The run stopped after 180 of 320 scenarios, none of which failed. What the others would have said is " +
		"not known."
	doc.Counts = triage.Counts{Scenarios: 180, Tests: 120, Passed: 178, Skipped: 2}
	doc.Aborted = &triage.Aborted{
		Reason: "timeout", Text: "panic: test timed out after 1h0m0s", Expected: 320, Found: 180,
	}
	doc.Problems = []string{"logs/upgrade.xml: ends inside an element at line 8,812; the 41 cases before it were read"}
	doc.Timeline = timeline([]int{30, 34, 33, 31, 28, 22, 0, 0})
	return doc
}

// NoFailure is a run in which all went well.
func NoFailure() triage.Document {
	doc := document("")
	doc.Verdict = triage.Passed
	doc.Summary = "All 320 scenarios passed."
	doc.Counts = triage.Counts{Scenarios: 320, Tests: 210, Passed: 318, Skipped: 2, Flaky: 1}
	return doc
}
