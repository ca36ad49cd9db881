// Package fault names the ways in which a call to the world can go wrong.
//
// Every error that crosses a room's wall carries one Class, so that a caller
// decides with errors.As on meaning. Nobody decides on an error's text, and a
// class is never a guess: what cannot be told apart is Transient, which means
// "it may have happened".
package apierr
