package triage

import "slices"

// Verdict answers what broke, and whether it is the change under test.
type Verdict string

// From the best to the worst: the worst group decides about a run.
const (
	Passed              Verdict = "passed"
	KnownInfrastructure Verdict = "known-infrastructure"
	KnownProduct        Verdict = "known-product"
	Undecided           Verdict = "undecided"
	New                 Verdict = "new"              // never seen, and not this change's as far as can be seen
	SuspectedChange     Verdict = "suspected-change" // the evidence is for the change under test
)

// Verdicts are all of them, from the best to the worst.
func Verdicts() []Verdict {
	return []Verdict{Passed, KnownInfrastructure, KnownProduct, Undecided, New, SuspectedChange}
}

// Worse says whether this verdict is worse than another one.
func (v Verdict) Worse(other Verdict) bool {
	return slices.Index(Verdicts(), v) > slices.Index(Verdicts(), other)
}

// Stance is what one piece of evidence says of an explanation.
type Stance string

// Open is not a refutation: it says that the evidence is not there, or not enough.
const (
	Refutes  Stance = "refutes"
	Supports Stance = "supports"
	Open     Stance = "open"
)

// Confidence is how sure a verdict is. It is never worked out from a p value.
type Confidence string

// High needs evidence from two producers.
const (
	Low    Confidence = "low"
	Medium Confidence = "medium"
	High   Confidence = "high"
)

// Flakiness is what several attempts of the same scenarios say.
type Flakiness string

// Deterministic takes three attempts: before, the answer is that it is not known.
const (
	Flaky            Flakiness = "flaky"
	Deterministic    Flakiness = "deterministic"
	FlakinessUnknown Flakiness = "unknown"
)

// Baseline says whether a group was there without the change.
type Baseline string

// The four answers.
const (
	NewFailure       Baseline = "new"
	PreExisting      Baseline = "pre-existing-same-reason"
	PreExistingElse  Baseline = "pre-existing-other-reason"
	NotEnoughHistory Baseline = "not-enough-history"
)
