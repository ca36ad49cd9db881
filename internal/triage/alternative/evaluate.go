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
	Label                        string
	FailedReach, PassedReach     int
	FailedNoReach, PassedNoReach int
	FailedUnknown, PassedUnknown int
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
	// Runs of other changes within the baseline's time, and those of them with the same failure; how many of their
	// scenarios failed so, and how many they had.
	Runs, Seen                  int
	SeenFailures, SeenScenarios int
	// When the first failure was seen and when the change was built or deployed; zero if nobody said.
	FirstFailure, ChangedAt time.Time
}

// Evaluate answers it.
func Evaluate(q Question, t triage.Thresholds) triage.Alternative {
	if !q.Changed {
		return triage.Alternative{State: NoChange, Text: "no change was given to compare with (--diff, --base)"}
	}
	dosed, share, apart := dose(q, t)
	a := triage.Alternative{
		MaxShare: share,
		Checks:   []triage.ChangeCheck{unreachable(q, t), dosed, prior(q, t), order(q, t), product(q)},
	}
	a.State = state(a.Checks, apart)
	a.Text = sentence(q, a)
	return a
}

// state weighs the checks. What was there without the change, or before it, refutes also where only scenarios of the
// change fail; that others fail too doesn't, for they may have another cause. Where scenarios of the change fail apart
// from what the causes explain, nothing refutes it.
func state(checks []triage.ChangeCheck, apart bool) string {
	refuted, hard, without, supported := 0, 0, 0, 0
	for _, check := range checks {
		switch check.Stance {
		case triage.Refutes:
			refuted++
			hard += one(check.Name == Unreachable || check.Name == Prior || check.Name == Order)
			without += one(check.Name == Prior || check.Name == Order)
		case triage.Supports:
			supported++
		case triage.Open:
		}
	}
	switch {
	case supported > 0 && hard == 0:
		return Supported
	case hard > 0 && refuted >= 2 && (supported == 0 || without > 0 && !apart):
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
