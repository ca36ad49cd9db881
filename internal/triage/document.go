package triage

import "time"

// Format is the version of the document's JSON.
const Format = "salve.triage/v1"

// Document is what one triage found. All texts in it come from untrusted logs: they are bounded and free of control
// characters, and may hold anything else.
type Document struct {
	Format  string    `json:"format"`
	Build   string    `json:"build"`  // what the run tested, as CI calls it; empty if nobody said
	Digest  string    `json:"digest"` // of the rows and the thresholds: the same input gives the same digest
	Created time.Time `json:"created"`

	Verdict    Verdict    `json:"verdict"`
	Mixed      bool       `json:"mixed"` // the groups have several verdicts, of which Verdict is the worst
	Confidence Confidence `json:"confidence"`
	Summary    string     `json:"summary"` // one or two sentences

	Counts   Counts   `json:"counts"`
	Aborted  *Aborted `json:"aborted,omitempty"`
	Change   *Change  `json:"change,omitempty"`
	Groups   []Group  `json:"groups"` // suspected, then new ones, then all others; each by failures
	Omitted  int      `json:"omittedGroups,omitempty"`
	Heat     []Heat   `json:"heat,omitempty"`
	Timeline []Moment `json:"timeline,omitempty"`

	Problems   []string    `json:"problems,omitempty"` // inputs that could not be read, or not to their end
	Notes      []string    `json:"notes,omitempty"`
	Thresholds []Threshold `json:"thresholds"`
}

// Counts are of scenarios, by their last attempt; a test may have several.
type Counts struct {
	Scenarios int `json:"scenarios"`
	Tests     int `json:"tests"`
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped"`
	Flaky     int `json:"flaky"` // passed at last, after a failure
}

// Aborted says that the run did not get to its end, and how that was seen.
type Aborted struct {
	Reason   string `json:"reason"` // crash, timeout, fewer-scenarios, unfinished
	Text     string `json:"text"`
	Expected int    `json:"expected,omitempty"` // scenarios of the baseline
	Found    int    `json:"found,omitempty"`
}

// Change is the change under test.
type Change struct {
	Files      int      `json:"files"`
	Components []string `json:"components,omitempty"` // that it touches
	Unmapped   []string `json:"unmapped,omitempty"`   // files of no component, some of them
	Mapped     bool     `json:"mapped"`               // there is a map
}

// Group is the failures that look alike.
type Group struct {
	Key       string   `json:"key"`     // g1-…
	Message   string   `json:"message"` // masked
	Frame     string   `json:"frame,omitempty"`
	Place     string   `json:"place,omitempty"`
	Failures  int      `json:"failures"` // scenarios
	Tests     int      `json:"tests"`
	Scenarios []string `json:"scenarios"` // the first ones
	Example   Excerpt  `json:"example"`

	Verdict     Verdict      `json:"verdict"`
	Confidence  Confidence   `json:"confidence"`
	Reasons     []string     `json:"reasons"` // for the confidence
	Flakiness   Flakiness    `json:"flakiness"`
	Signatures  []Signature  `json:"signatures,omitempty"`
	Cause       Cause        `json:"cause"`
	Alternative Alternative  `json:"alternative"`
	Baseline    BaselineSays `json:"baseline"`
	Evidence    []Evidence   `json:"evidence"`
	WouldChange []string     `json:"wouldChange"` // what would change the verdict
	Action      string       `json:"action"`
	Occurrences *Occurrences `json:"occurrences,omitempty"` // nil without a history
}

// Excerpt is some of a log, with where it is.
type Excerpt struct {
	Scenario string `json:"scenario"`
	Text     string `json:"text"` // at most 4 KiB
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
}

// Signature is a known failure that the group shows.
type Signature struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Class      string   `json:"class"` // infrastructure, product, test
	Owner      string   `json:"owner,omitempty"`
	Links      []string `json:"links,omitempty"`
	Action     string   `json:"action,omitempty"`
	ValidUntil string   `json:"validUntil,omitempty"`
	Expired    bool     `json:"expired,omitempty"` // it no longer decides
	Failures   int      `json:"failures"`          // of the group, that show it
	Passing    int      `json:"passing"`           // scenarios that pass and show it
}

// Cause says which values of attributes the failures go with.
type Cause struct {
	State       string      `json:"state"` // found, undecided
	Text        string      `json:"text"`
	Candidates  []Candidate `json:"candidates,omitempty"`
	Explained   []Candidate `json:"explained,omitempty"` // kept, not taken: by what it is explained, if at all
	Unexplained int         `json:"unexplained"`         // failures without any of the candidates
	Unjudged    []string    `json:"unjudged,omitempty"`  // attributes that can't tell, and why
}

// Candidate is one value with the 2×2 behind it. Rows that an earlier candidate explains are not in it.
type Candidate struct {
	Attribute string   `json:"attribute"`
	Value     string   `json:"value"`             // empty: the scenarios that lack the attribute
	Aliases   []string `json:"aliases,omitempty"` // attribute=value that the same scenarios have

	FailedWith    int `json:"failedWith"`
	PassedWith    int `json:"passedWith"`
	FailedWithout int `json:"failedWithout"`
	PassedWithout int `json:"passedWithout"`

	RateWith    Interval `json:"rateWith"`
	RateWithout Interval `json:"rateWithout"`
	RiskRatio   Interval `json:"riskRatio"`
	Coverage    float64  `json:"coverage"`
	LogP        float64  `json:"logP"` // natural logarithm of Fisher's p, the weaker of by scenario and by test
	Q           float64  `json:"q"`    // of Benjamini and Hochberg; 0 where it is smaller than a float64 can hold
	ByTest      bool     `json:"byTest"`
	ExplainedBy string   `json:"explainedBy,omitempty"`
}

// Interval is an estimate with its 95 % interval.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Lower    float64 `json:"lower"`
	Upper    float64 `json:"upper"`
}

// Alternative is whether the change under test did it.
type Alternative struct {
	State    string        `json:"state"` // refuted, supported, open, no-change
	Text     string        `json:"text"`
	MaxShare *float64      `json:"maxShare,omitempty"` // of the failures that may be due to the change
	Checks   []ChangeCheck `json:"checks,omitempty"`
}

// ChangeCheck is one question about the change: unreachable, dose, baseline, order, product.
type ChangeCheck struct {
	Name   string `json:"name"`
	Stance Stance `json:"stance"`
	Text   string `json:"text"`
	// Table is of scenarios that reach the change against others, for dose.
	Table *Reached `json:"table,omitempty"`
}

// Reached compares scenarios that reach the change with others.
type Reached struct {
	FailedReach   int      `json:"failedReach"`
	PassedReach   int      `json:"passedReach"`
	FailedNoReach int      `json:"failedNoReach"`
	PassedNoReach int      `json:"passedNoReach"`
	Difference    Interval `json:"difference"`
}

// BaselineSays is whether the group was there without the change.
type BaselineSays struct {
	Answer Baseline `json:"answer"`
	Text   string   `json:"text"`
	Seen   int      `json:"seen"` // runs of other changes with the group
	Runs   int      `json:"runs"` // runs of other changes
}

// Evidence is one line that somebody wrote who is named: a test's own log, a serial console, the history.
type Evidence struct {
	Producer string `json:"producer"`
	Text     string `json:"text"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// Occurrences are the runs in which a signature, or the group, was seen, this one included.
type Occurrences struct {
	Of        string    `json:"of"` // the signature's ID, or the group's key
	Count     int       `json:"count"`
	Threshold int       `json:"threshold"`
	Days      int       `json:"days"`
	First     time.Time `json:"first"`
	Escalated bool      `json:"escalated"`
	Owner     string    `json:"owner,omitempty"`
}

// Heat is how often the scenarios with one value fail, in all and by group.
type Heat struct {
	Attribute string `json:"attribute"`
	Value     string `json:"value"` // empty: unknown
	Passed    int    `json:"passed"`
	Failed    int    `json:"failed"`
	ByGroup   []int  `json:"byGroup"` // in the order of Groups
}

// Moment is a part of the run's time: what ended in it.
type Moment struct {
	Time    time.Time `json:"time"` // its beginning
	Seconds int       `json:"seconds"`
	Passed  int       `json:"passed"`
	Failed  int       `json:"failed"`
	ByGroup []int     `json:"byGroup,omitempty"`
}
