package alternative

import (
	"fmt"
	"strings"
	"time"

	"salve/internal/triage"
)

// States of the alternative.
const (
	Refuted   = "refuted"
	Supported = "supported"
	Open      = "open"
	NoChange  = "no-change"
)

// The checks.
const (
	Unreachable = "unreachable"
	Dose        = "dose"
	Prior       = "baseline"
	Order       = "order"
	Product     = "product"
)

// Stratum counts scenarios of one class by whether they run through what the change touches.
type Stratum struct {
	Label         string `json:"label"`
	FailedReach   int    `json:"failedReach"`
	PassedReach   int    `json:"passedReach"`
	FailedNoReach int    `json:"failedNoReach"`
	PassedNoReach int    `json:"passedNoReach"`
	FailedUnknown int    `json:"failedUnknown"`
	PassedUnknown int    `json:"passedUnknown"`
}

// Add counts a scenario whose reach is yes, no or unknown.
func (s *Stratum) Add(reach string, failed bool) {
	counts := [...]*int{&s.PassedUnknown, &s.FailedUnknown}
	switch reach {
	case "yes":
		counts = [...]*int{&s.PassedReach, &s.FailedReach}
	case "no":
		counts = [...]*int{&s.PassedNoReach, &s.FailedNoReach}
	}
	*counts[one(failed)]++
}

func (s Stratum) failed() int { return s.FailedReach + s.FailedNoReach + s.FailedUnknown }

// Question is what is known of one group.
type Question struct {
	Changed bool   // a change is known
	Subject string // how the change is called: "component node-controller", "the changed files"
	// Classes are the scenarios of the causes found, in their order; Outside are all others.
	Classes []Stratum
	Outside Stratum
	// InPaths are failures whose place lies in the paths that the change touches; Place is one of these places.
	InPaths int
	Place   string
	// Environment says that the causes are where scenarios ran, such as a cluster, and explain nearly all failures.
	Environment bool
	// Confined is where nearly all failures ran, if hardly anything ran there that could pass without the change: what
	// is bad there can't be told apart from it. Empty if there is no such place.
	Confined string
	// Unfinished says that the failures are scenarios without a result: what ran when the run ended.
	Unfinished bool
	// Runs of other changes within the baseline's time, and other changes with the same failure.
	Runs, Seen int
	// Whole compares with those runs as a whole, Reaching compares scenarios that may run through the change, without
	// those of a place that is a cause.
	Whole, Reaching Comparison
	// When the first failure was seen here, in runs of other changes, and when the change was built or deployed; zero if
	// nobody said.
	FirstFailure, FirstElsewhere, ChangedAt time.Time
}

// Rate is how many scenarios of a run failed so.
type Rate struct {
	Change     string
	Failed, Of int
}

// Comparison is between this run and those of other changes, which are ordered by time.
type Comparison struct {
	Here   Rate
	Others []Rate
}

// Evaluate answers it.
func Evaluate(q Question, t triage.Thresholds) triage.Alternative {
	if !q.Changed {
		return triage.Alternative{State: NoChange, Text: "no change was given to compare with (--diff, --base)"}
	}
	dosed, share := dose(q, t)
	before := prior(q, t)
	elsewhere := before.Stance == triage.Refutes
	a := triage.Alternative{
		MaxShare: share,
		Checks:   []triage.ChangeCheck{unreachable(q, t), dosed, before, order(q, elsewhere, t), product(q)},
	}
	a.State = state(q, a.Checks, t)
	a.Text = sentence(q, a)
	return a
}

// state weighs the checks. For the change speak its dose and its places; that nobody else had it speaks of anything
// that is new, and counts beside a dose that is too small to speak for itself. Where failures go with a place where
// scenarios ran, only a dose within that place, or apart from it, speaks for the change.
//
// What other changes have as well is suspected only if it fails clearly more often here.
//
// Where something speaks for the change, it takes others that fail as often to refute it: that others fail too, or
// failed before, may have another cause.
func state(q Question, checks []triage.ChangeCheck, t triage.Thresholds) string {
	refuted, hard, supported, alike := 0, 0, false, false
	for _, check := range checks {
		switch check.Stance {
		case triage.Refutes:
			refuted++
			hard += one(check.Name == Unreachable || check.Name == Prior || check.Name == Order)
			alike = alike || check.Name == Prior
		case triage.Supports:
			supported = supported || check.Name == Dose || check.Name == Product && !q.Environment ||
				check.Name == Prior && leans(q, t)
		case triage.Open:
		}
	}
	switch {
	case supported && hard == 0 && (q.Seen == 0 || q.Reaching.worse(t)):
		return Supported
	case hard > 0 && refuted >= 2 && (alike || !supported && !apart(q, t)):
		return Refuted
	}
	return Open
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sentence says the state with the checks that made it.
func sentence(q Question, a triage.Alternative) string {
	against, behind := says(a, triage.Refutes), says(a, triage.Supports)
	switch a.State {
	case Refuted:
		return fmt.Sprintf("%s didn't do it: %s", q.Subject, against)
	case Supported:
		text := fmt.Sprintf("%s may have done it: %s", q.Subject, behind)
		if against != "" {
			text += "; against it: " + against
		}
		return text
	}
	switch {
	case behind != "":
		return fmt.Sprintf("whether %s did it is open: for it: %s; against it: %s", q.Subject, behind, against)
	case against != "":
		return fmt.Sprintf("whether %s did it is open: against it: %s; that alone is not enough", q.Subject, against)
	}
	return fmt.Sprintf("whether %s did it is open: nothing speaks for it, and nothing against it", q.Subject)
}

func says(a triage.Alternative, stance triage.Stance) string {
	var parts []string
	for _, check := range a.Checks {
		if check.Stance == stance {
			parts = append(parts, check.Text)
		}
	}
	return strings.Join(parts, "; ")
}
