package apierr

import (
	"fmt"
	"runtime/debug"
)

// PanicError is what code ended with instead of an answer.
type PanicError struct {
	Value any
	// Stack is that of the goroutine that panicked.
	Stack string
	// Journaled says that the run's record holds the stack.
	Journaled bool
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Panicked is the error of a value that was recovered, with the stack of the goroutine
// that calls it.
func Panicked(value any) error {
	return &Error{Class: Unclassified, Err: &PanicError{Value: value, Stack: string(debug.Stack())}}
}

// Recovered calls code. A panic in it is an error of class Unclassified that holds a *PanicError: what the code did
// until then is not known.
//
// Goroutines call by it what was handed in from outside: a panic that nobody recovers ends the process with Go's exit
// code 2, which says of a command that nothing was changed, and it ends the run without a word in its record.
func Recovered(code func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = Panicked(value)
		}
	}()
	return code()
}
