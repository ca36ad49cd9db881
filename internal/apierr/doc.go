// Package apierr names the ways in which a call to the world can go wrong.
//
// Every error that crosses a package's border carries one Class, so that a caller
// decides with errors.As on meaning. Nobody decides on an error's text, and a
// class is never a guess: what cannot be told apart is Transient or Unclassified,
// both of which mean "it may have happened".
package apierr
