package triage

import (
	"fmt"
	"strings"
)

// Threshold is one of them, as it is printed.
type Threshold struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
}

// Unit is what a threshold's number counts.
type Unit string

// A share is printed in per cent; a number has no unit.
const (
	Number  Unit = ""
	Share   Unit = "%"
	Hours   Unit = "h"
	Minutes Unit = "min"
	Days    Unit = "days"
)

// Print is a value with its unit.
func (u Unit) Print(value float64) string {
	switch u {
	case Number:
		return fmt.Sprintf("%g", value)
	case Share:
		return fmt.Sprintf("%.10g %%", 100*value)
	default:
		return fmt.Sprintf("%g %s", value, u)
	}
}

// Named is one threshold by its name.
type Named struct {
	Name    string
	Value   float64
	Unit    Unit
	Meaning string
	// Least and Most are the values that make sense. Whole numbers take no fraction.
	Least, Most float64
	Whole       bool
}

// named is a threshold in its place.
type named struct {
	Named
	whole *int
	real  *float64
}

// bounded has the limits of a threshold.
func (n named) bounded(least, most float64) named {
	n.Least, n.Most = least, most
	return n
}

// many is more than there ever are.
const many = 1e6

// named are all of them, in the order in which they come to bear.
func (t *Thresholds) named() []named {
	share := func(name string, of *float64, meaning string) named {
		return named{Named{name, *of, Share, meaning, 0, 1, false}, nil, of}
	}
	number := func(name string, of *float64, meaning string) named {
		return named{Named{name, *of, Number, meaning, 0, 1, false}, nil, of}
	}
	count := func(name string, of *int, meaning string) named {
		return named{Named{name, float64(*of), Number, meaning, 1, many, true}, of, nil}
	}
	in := func(unit Unit, n named) named {
		n.Unit = unit
		return n
	}
	return []named{
		count("eligible", &t.EligibleRows, "scenarios with a value, and without, for it to be looked at"),
		share("same-value", &t.SameValue, "of scenarios with one value: the attribute can't tell anything beyond"),
		share("unknown", &t.UnknownShare, "of scenarios without the attribute: lower confidence beyond"),
		number("false-discovery", &t.FalseDiscovery, "q of Benjamini and Hochberg, at most"),
		number("risk-ratio", &t.RiskRatio, "lower end of its 95 % interval, at least").bounded(1, many),
		count("cause-failures", &t.CauseFailures, "failures with the value, at least"),
		count("small-cause-failures", &t.SmallCauseFailures, "the same for a small group that fails nowhere else"),
		share("cause-coverage", &t.CauseCoverage, "of the group's failures have the value, at least"),
		share("alias", &t.Alias, "overlap from which two values can't be told apart"),
		count("causes", &t.Causes, "causes of one group, at most").bounded(0, 100),
		share("unexplained", &t.Unexplained, "of failures without a cause: undecided beyond"),
		share("coarser", &t.Coarser, "of scenarios of a coarser value that its causes make up: it is named instead"),
		count("unreachable", &t.UnreachableFailures, "failures that can't reach the change refute it alone"),
		share("change-share", &t.ChangeShare, "of failures that may be the change's: refuted up to it"),
		share("change-difference", &t.ChangeDifference, "lower end of reach less no reach: supported beyond it"),
		number("all-reach", &t.AllReach, "p of all failures being on scenarios of the change: supported up to it"),
		number("suspicion", &t.Suspicion, "p of failures of the change apart from the causes: not refuted up to it"),
		in(Hours, count("baseline", &t.BaselineHours, "how far back runs of other changes count")),
		count("baseline-seen", &t.BaselineSeen, "other changes with the same failure refute the change"),
		count("baseline-unseen", &t.BaselineUnseen, "runs of other changes without it support the change"),
		share("other-reason", &t.OtherReason,
			"of its scenarios failed in another way in a run of another change: it was there for another reason"),
		in(Minutes, count("order", &t.OrderMarginMinutes, "a failure this much before the change refutes it").
			bounded(0, many)),
		share("known-coverage", &t.KnownCoverage, "of failures in the causes, or a signature, for a known verdict"),
		count("attempts", &t.Attempts, "attempts from which a failure is called deterministic"),
		count("producers", &t.HighProducers, "producers of evidence for high confidence"),
		count("failures", &t.HighFailures, "failures for high confidence"),
		share("aborted", &t.AbortedShare, "of the baseline's scenarios: the run was aborted below"),
		count("aborted-runs", &t.AbortedRuns, "earlier runs of the job from which it is known how many it has"),
		share("signature-passing", &t.SignaturePassing, "of passing scenarios: a signature isn't specific beyond"),
		count("escalate", &t.EscalateAt, "occurrences to be escalated"),
		in(Days, count("escalate-days", &t.EscalateDays, "in which they are counted")).bounded(1, 36500),
		count("calm", &t.CalmBelow, "occurrences below which it no longer has to be"),
	}
}

// Named are all thresholds by name, in the order in which they come to bear.
func (t Thresholds) Named() []Named {
	var all []Named
	for _, n := range t.named() {
		all = append(all, n.Named)
	}
	return all
}

// List is all of them as they are printed.
func (t Thresholds) List() []Threshold {
	var list []Threshold
	for _, n := range t.named() {
		list = append(list, Threshold{n.Name, n.Unit.Print(n.Value), n.Meaning})
	}
	return list
}

// Values are all of them as numbers: a share of 20 % is 0.2.
func (t Thresholds) Values() map[string]float64 {
	values := map[string]float64{}
	for _, n := range t.named() {
		values[n.Name] = n.Value
	}
	return values
}

// With is the thresholds with another value of one. A name that there is not, and a value that makes no sense, are
// errors.
func (t Thresholds) With(name string, value float64) (Thresholds, error) {
	for _, n := range t.named() {
		if n.Name != name {
			continue
		}
		if err := n.fits(value); err != nil {
			return t, err
		}
		if n.whole != nil {
			*n.whole = int(value)
		} else {
			*n.real = value
		}
		return t, nil
	}
	return t, fmt.Errorf("unknown threshold %q", name)
}

// fits says whether a value makes sense.
func (n Named) fits(value float64) error {
	whole := ""
	if n.Whole {
		whole = "a whole number "
	}
	if !(value >= n.Least && value <= n.Most) || n.Whole && value != float64(int(value)) {
		return fmt.Errorf("threshold %s of %s: out of range: want %sfrom %s to %s", n.Name, n.Unit.Print(value), whole,
			strings.TrimSpace(n.Unit.Print(n.Least)), n.Unit.Print(n.Most))
	}
	return nil
}
