package triage

import (
	"fmt"
	"time"
)

// Thresholds are all the numbers that a verdict depends on. They are printed with every verdict.
type Thresholds struct {
	// An attribute's value takes part if at least this many scenarios have it, and as many don't.
	EligibleRows int
	// An attribute of which more than this share of the scenarios has one value can't tell anything.
	SameValue float64
	// An attribute that more than this share of the scenarios lacks lowers the confidence.
	UnknownShare float64
	// False discoveries among the causes (Benjamini and Hochberg's q).
	FalseDiscovery float64
	// The lower end of the risk ratio's interval.
	RiskRatio float64
	// Failures with the value: in general, and for a group that is that small and fails nowhere else.
	CauseFailures      int
	SmallCauseFailures int
	// The share of the group's failures that have the value.
	CauseCoverage float64
	// Values whose scenarios overlap this much (Jaccard) can't be told apart.
	Alias float64
	// Causes of one group.
	Causes int
	// A group whose failures stay unexplained beyond this share has no cause that is decided.
	Unexplained float64
	// Of a finer cause's failures in a coarser one: the share from which the coarser one is named.
	Coarser float64

	// Failures at one place on scenarios that can't reach the change: it can't be the cause alone.
	UnreachableFailures int
	// The largest share of the failures that may be due to the change, for it to be refuted.
	ChangeShare float64
	// The lower end of the difference between scenarios that reach the change and others, for it to be supported.
	ChangeDifference float64
	// From which p value failures that are all on scenarios of the change support it.
	AllReach float64
	// From which p value scenarios of the change that fail apart from the causes keep it from being refuted.
	Suspicion float64
	// How far back the runs of other changes count, in how many of them the group refutes the change, and out of how
	// many it has to be missing to support it.
	BaselineHours  int
	BaselineSeen   int
	BaselineUnseen int
	// How much earlier than the change a failure has to be: clocks of two machines may differ.
	OrderMarginMinutes int
	// The share of the failures that the causes have to cover for a verdict that is not on the change.
	KnownCoverage float64

	// Attempts from which a scenario that always fails is deterministic.
	Attempts int
	// Producers of evidence, and failures, for high confidence.
	HighProducers int
	HighFailures  int
	// A run that has fewer scenarios than this share of the baseline's was aborted. Of a history, that is the fewest that
	// so many runs of the same job had, in the days of the escalation.
	AbortedShare float64
	AbortedRuns  int
	// A signature that hits more than this share of passing scenarios is not specific.
	SignaturePassing float64
	// Occurrences of a signature in a number of days from which it has to be escalated, and below which it no longer
	// has to.
	EscalateAt   int
	EscalateDays int
	CalmBelow    int
}

// Default are the thresholds of the procedure, with the reasons in docs/triage.md.
func Default() Thresholds {
	return Thresholds{
		EligibleRows: 3, SameValue: 0.95, UnknownShare: 0.20, FalseDiscovery: 0.01, RiskRatio: 2,
		CauseFailures: 5, SmallCauseFailures: 3, CauseCoverage: 0.10, Alias: 0.95, Causes: 3, Unexplained: 0.20,
		Coarser: 0.95, UnreachableFailures: 3, ChangeShare: 0.20, ChangeDifference: 0.20,
		AllReach: 0.0001, Suspicion: 0.20, BaselineHours: 24, BaselineSeen: 2, BaselineUnseen: 20,
		OrderMarginMinutes: 10, KnownCoverage: 0.80,
		Attempts: 3, HighProducers: 2, HighFailures: 5, AbortedShare: 0.90, AbortedRuns: 5, SignaturePassing: 0.10,
		EscalateAt: 6, EscalateDays: 30, CalmBelow: 3,
	}
}

// Baseline is how far back the runs of other changes count.
func (t Thresholds) Baseline() time.Duration { return time.Duration(t.BaselineHours) * time.Hour }

// Threshold is one of them, as it is printed.
type Threshold struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
}

// List is all of them, in the order in which they come to bear.
func (t Thresholds) List() []Threshold {
	share := func(f float64) string { return fmt.Sprintf("%g %%", 100*f) }
	count := func(n int) string { return fmt.Sprint(n) }
	return []Threshold{
		{"eligible", count(t.EligibleRows), "scenarios with a value, and without, for it to be looked at"},
		{"same-value", share(t.SameValue), "of scenarios with one value: the attribute can't tell anything beyond"},
		{"unknown", share(t.UnknownShare), "of scenarios without the attribute: lower confidence beyond"},
		{"false-discovery", fmt.Sprintf("%g", t.FalseDiscovery), "q of Benjamini and Hochberg, at most"},
		{"risk-ratio", fmt.Sprintf("%g", t.RiskRatio), "lower end of its 95 % interval, at least"},
		{"cause-failures", count(t.CauseFailures), "failures with the value, at least"},
		{"small-cause-failures", count(t.SmallCauseFailures), "the same for a small group that fails nowhere else"},
		{"cause-coverage", share(t.CauseCoverage), "of the group's failures have the value, at least"},
		{"alias", share(t.Alias), "overlap from which two values can't be told apart"},
		{"causes", count(t.Causes), "causes of one group, at most"},
		{"unexplained", share(t.Unexplained), "of failures without a cause: undecided beyond"},
		{"coarser", share(t.Coarser), "of scenarios of a coarser value that its causes make up: it is named instead"},
		{"unreachable", count(t.UnreachableFailures), "failures that can't reach the change refute it alone"},
		{"change-share", share(t.ChangeShare), "of failures that may be the change's: refuted up to it"},
		{"change-difference", share(t.ChangeDifference), "lower end of reach less no reach: supported beyond it"},
		{"all-reach", fmt.Sprintf("%g", t.AllReach),
			"p of all failures being on scenarios of the change: supported up to it"},
		{"suspicion", fmt.Sprintf("%g", t.Suspicion),
			"p of failures of the change apart from the causes: not refuted up to it"},
		{"baseline", fmt.Sprintf("%d h", t.BaselineHours), "how far back runs of other changes count"},
		{"baseline-seen", count(t.BaselineSeen), "other changes with the same failure refute the change"},
		{"baseline-unseen", count(t.BaselineUnseen), "runs of other changes without it support the change"},
		{"order", fmt.Sprintf("%d min", t.OrderMarginMinutes), "a failure this much before the change refutes it"},
		{"known-coverage", share(t.KnownCoverage), "of failures in the causes, or a signature, for a known verdict"},
		{"attempts", count(t.Attempts), "attempts from which a failure is called deterministic"},
		{"producers", count(t.HighProducers), "producers of evidence for high confidence"},
		{"failures", count(t.HighFailures), "failures for high confidence"},
		{"aborted", share(t.AbortedShare), "of the baseline's scenarios: the run was aborted below"},
		{"aborted-runs", count(t.AbortedRuns), "earlier runs of the job from which it is known how many it has"},
		{"signature-passing", share(t.SignaturePassing), "of passing scenarios: a signature isn't specific beyond"},
		{"escalate", fmt.Sprintf("%d in %d days", t.EscalateAt, t.EscalateDays), "occurrences to be escalated"},
		{"calm", count(t.CalmBelow), "occurrences below which it no longer has to be"},
	}
}
