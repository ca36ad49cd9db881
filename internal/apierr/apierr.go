package apierr

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Class says what a caller may conclude from a failed call.
type Class string

const (
	// Transient means: the answer was lost or the service stumbled. A change may or
	// may not have happened; look before doing it again.
	Transient Class = "transient"
	// Throttled means: refused unread for being too many. Nothing happened.
	Throttled Class = "throttled"
	// Denied means: refused for lack of rights. Nothing happened.
	Denied Class = "denied"
	// Conflict means: somebody else is at work, or changed what we had read. Nothing
	// of ours happened; what was known must be read again.
	Conflict Class = "conflict"
	// Missing means: the thing is not there.
	Missing Class = "missing"
	// Terminal means: refused for good; asking again gives the same answer.
	Terminal Class = "terminal"
	// Unclassified means: nobody has said what the error means. A change may or may not
	// have happened; look before anything else.
	Unclassified Class = "unclassified"
)

// Error is a failed call with its class.
type Error struct {
	Class Class
	// RetryAfter is how long the service asked us to wait; zero when it didn't.
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of a class from a format, as fmt.Errorf does.
func New(class Class, format string, args ...any) error {
	return &Error{Class: class, Err: fmt.Errorf(format, args...)}
}

// ClassOf gives the class of err. An error that carries none is Transient when
// it is the end of a context, because nothing was seen, and Unclassified otherwise:
// never a class that says that nothing happened.
func ClassOf(err error) Class {
	var classed *Error
	switch {
	case errors.As(err, &classed):
		return classed.Class
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Transient
	default:
		return Unclassified
	}
}

// MayHaveHappened tells whether a change that failed with err may have happened all
// the same: its answer was lost, or nobody has said what the error means.
func MayHaveHappened(err error) bool {
	class := ClassOf(err)
	return class == Transient || class == Unclassified
}

// RetryAfter gives the pause that the service asked for, or zero.
func RetryAfter(err error) time.Duration {
	var classed *Error
	if errors.As(err, &classed) {
		return classed.RetryAfter
	}
	return 0
}
