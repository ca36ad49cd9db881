package runbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"salve/internal/apierr"
)

// MaxReading is the most that a reading is recorded of, as JSON, in bytes. What is larger is decided on and not
// recorded, and the record says so.
const MaxReading = 4 << 20

// Reading is all that a guard's decision was made from: what was read, or why nothing was. The decision takes what
// stands here and nothing else, so that it can be made again wherever the record is. The zero Reading was not kept.
type Reading struct {
	// Value is what was read, as JSON.
	Value json.RawMessage `json:"value,omitempty"`
	// Failure is why nothing was read; nil when something was. It is not an empty reading.
	Failure *Failure `json:"failure,omitempty"`
	// Omitted says why a reading that was made is not here.
	Omitted string `json:"omitted,omitempty"`
}

// Absence says in which way there is nothing: none of them is an empty answer.
type Absence string

// The ways in which a reading can be absent.
const (
	AbsentDenied    Absence = "denied"
	AbsentTimedOut  Absence = "timed-out"
	AbsentThrottled Absence = "throttled"
	AbsentMissing   Absence = "missing"
	// AbsentUnread is any other failure to read.
	AbsentUnread Absence = "not-fetched"
)

// Failure is an error as a reading keeps it: a value that is the same when it is read back. It has the class of the
// error that it was made of.
type Failure struct {
	Absence Absence      `json:"absence"`
	Class   apierr.Class `json:"class"`
	Reason  string       `json:"reason"`
	// Question is that of a *Contradiction, which is no failure to see; empty for others.
	Question string `json:"question,omitempty"`
	// Locked: no override passes over it, whatever the guard says of others.
	Locked bool `json:"notOverridable,omitempty"`
}

// FailureOf gives an error as a value; nil for no error.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	failure := &Failure{Absence: AbsentUnread, Class: apierr.ClassOf(err), Reason: err.Error()}
	var wrong *Contradiction
	switch {
	case errors.As(err, &wrong):
		failure.Reason, failure.Question = wrong.Reason, wrong.Question
	case errors.Is(err, context.DeadlineExceeded):
		failure.Absence = AbsentTimedOut
	case failure.Class == apierr.Denied:
		failure.Absence = AbsentDenied
	case failure.Class == apierr.Throttled:
		failure.Absence = AbsentThrottled
	case failure.Class == apierr.Missing:
		failure.Absence = AbsentMissing
	}
	return failure
}

func (f *Failure) Error() string { return f.Reason }

// Unwrap gives an error of the same class.
func (f *Failure) Unwrap() error { return apierr.New(f.Class, "%s", f.Reason) }

// finding is what follows when a guard could not read.
func (f *Failure) finding() Finding {
	if f.Question != "" {
		return No("%s. %s", f.Reason, f.Question).WithOutcome(NeedsAttention).NotOverridable()
	}
	finding := Unknown(f)
	finding.Locked = f.Locked
	return finding
}

// UnreplayableError says what a decision needs that the record does not have. No default takes its place.
type UnreplayableError struct {
	Guard string
	// What is a field of the reading, or the reading itself.
	What string
	// Unread: the decision itself says that it takes what was not read; see the function Unread.
	Unread bool
}

func (e *UnreplayableError) Error() string {
	return fmt.Sprintf("unreplayable: guard %q requires %s, which the record does not have", e.Guard, e.What)
}

// Decide makes the guard's decision from a recorded reading, without a look at the world. It fails with
// *UnreplayableError when the reading lacks something that the decision takes.
func (g Guard) Decide(reading Reading) (Finding, error) {
	lacks := func(what string) error { return &UnreplayableError{Guard: g.Name, What: what} }
	var finding Finding
	switch {
	case reading.Failure != nil:
		finding = reading.Failure.finding()
	case g.decide == nil:
		return Finding{}, lacks("the world itself: it decides while it reads")
	case reading.Omitted != "":
		return Finding{}, lacks("its reading (" + reading.Omitted + ")")
	case len(reading.Value) == 0:
		return Finding{}, lacks("its reading")
	default:
		if missing := g.missing(reading.Value); missing != "" {
			return Finding{}, lacks(missing)
		}
		var err error
		if finding, err = g.decide(reading.Value); err != nil {
			return Finding{}, lacks(fmt.Sprintf("a reading of another form: %v", err))
		}
	}
	if finding.lacks != "" {
		return Finding{}, &UnreplayableError{Guard: g.Name, What: finding.lacks, Unread: true}
	}
	finding.Guard = g.Name
	finding.Locked = finding.Locked || g.NotOverridable
	finding.Reading = &reading
	return finding, nil
}

// Recorded tells whether the guard's decisions can be made again from the record.
func (g Guard) Recorded() bool { return g.decide != nil }
