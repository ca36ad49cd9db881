package runbook

// Outcome is how a run ends.
type Outcome string

const (
	// Remediated means: the change was made and the final checks hold.
	Remediated Outcome = "remediated"
	// RolledOut means: every step of a pipeline is done.
	RolledOut Outcome = "rolled-out"
	// NothingToDo means: a guard does not hold; the recipe isn't for this.
	NothingToDo Outcome = "nothing-to-do"
	// Deferred means: not now; it clears by itself.
	Deferred Outcome = "deferred"
	// Failed means: it could not be done, and what was done was taken back.
	Failed Outcome = "failed"
	// Undecided means: a guard could not see.
	Undecided Outcome = "undecided"
	// NeedsAttention means: a person has to answer a question before it can go on.
	NeedsAttention Outcome = "needs-attention"
)

// Outcomes are all of them.
func Outcomes() []Outcome {
	return []Outcome{Remediated, RolledOut, NothingToDo, Deferred, Failed, Undecided, NeedsAttention}
}

// Successful tells whether an outcome says that the work is done. Only a run whose
// checks hold ends with one.
func (o Outcome) Successful() bool { return o == Remediated || o == RolledOut }

// Posture says what an unknown finding means.
type Posture string

const (
	// FailClosed means: do nothing, and say that it is undecided. The zero value of
	// Runbook.Posture means this too.
	FailClosed Posture = "fail-closed"
	// FailOpen means: do nothing, and never block the caller.
	FailOpen Posture = "fail-open"
)
