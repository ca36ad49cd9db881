package triage

import "time"

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
	// The share of a group's scenarios that failed in another way in a run of another change, from which the group was
	// there before for another reason: among hundreds, some fail every day.
	OtherReason float64
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
		AllReach: 0.0001, Suspicion: 0.20, BaselineHours: 24, BaselineSeen: 2, BaselineUnseen: 20, OtherReason: 0.50,
		OrderMarginMinutes: 10, KnownCoverage: 0.80,
		Attempts: 3, HighProducers: 2, HighFailures: 5, AbortedShare: 0.90, AbortedRuns: 5, SignaturePassing: 0.10,
		EscalateAt: 6, EscalateDays: 30, CalmBelow: 3,
	}
}

// Baseline is how far back the runs of other changes count.
func (t Thresholds) Baseline() time.Duration { return time.Duration(t.BaselineHours) * time.Hour }
