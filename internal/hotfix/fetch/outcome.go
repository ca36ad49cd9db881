package fetch

import (
	"context"
	"errors"
	"time"
)

// Outcome says how a fetch ended.
type Outcome string

// The outcomes. Busy and Unreachable clear by themselves and are tried again within
// the budget, unless the error is final; the others are final at once.
const (
	Fetched            Outcome = "fetched"
	UnsupportedOS      Outcome = "unsupported-os"      // no package manager that is known, or a read-only image
	UnsignedArtifact   Outcome = "unsigned-artifact"   // a pointer that nobody signed names an address
	UnsignedRepository Outcome = "unsigned-repository" // the image's repository does not check signatures itself
	NotUnderSignature  Outcome = "not-under-signature" // a signed pointer that has no digest for it
	VersionNotFound    Outcome = "version-not-found"   // it is not published here
	Busy               Outcome = "busy"                // another package manager held its lock for the whole budget
	Unreachable        Outcome = "unreachable"         // the repository or the address could not be reached
	Denied             Outcome = "denied"              // it was reached and refused
	Untrusted          Outcome = "untrusted"           // a signature or a certificate is missing or wrong
	BadArtifact        Outcome = "bad-artifact"        // wrong size or digest, or the package doesn't hold the file
	Timeout            Outcome = "timeout"             // the budget ended in the middle
	Failed             Outcome = "failed"              // anything else, such as a full disk
)

// Outcomes lists all there are.
func Outcomes() []Outcome {
	return []Outcome{Fetched, UnsupportedOS, UnsignedArtifact, UnsignedRepository, NotUnderSignature, VersionNotFound,
		Busy, Unreachable, Denied, Untrusted, BadArtifact, Timeout, Failed}
}

// Error is a fetch that brought nothing.
type Error struct {
	Outcome Outcome
	// Final: trying again at once would be in vain, although the outcome is one that may
	// clear.
	Final bool
	// RetryAfter is how long the server asked to be left alone.
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// OutcomeOf gives the outcome that an error of this package stands for.
func OutcomeOf(err error) Outcome {
	var known *Error
	switch {
	case err == nil:
		return Fetched
	case errors.As(err, &known):
		return known.Outcome
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Timeout
	}
	return Failed
}

// ByConfiguration tells whether an outcome is read from the node's own files: nothing
// was asked of anybody, so looking again costs nothing.
func (o Outcome) ByConfiguration() bool {
	switch o {
	case UnsupportedOS, UnsignedArtifact, UnsignedRepository, NotUnderSignature:
		return true
	default:
		return false
	}
}

// clears tells whether a failure may clear by itself within the budget.
func clears(err error) bool {
	var known *Error
	if !errors.As(err, &known) || known.Final {
		return false
	}
	return known.Outcome == Busy || known.Outcome == Unreachable
}
