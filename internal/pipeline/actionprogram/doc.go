// Package actionprogram runs the actions that Salve does not have itself: each by a program of its own, which is
// called salve-action-NAME and speaks JSON on its standard input and output (docs/action-programs.md).
//
// A program has three verbs. Observe says whether the step's work is done, and changes nothing; plan says what would
// be changed, and changes nothing; apply does it. Nothing is applied that was not observed to be lacking, and nothing
// is called done that was not observed again afterwards.
//
// It never gives a program a secret but by name, never believes an answer that it can't read whole, never runs a
// program that is not the one that was found when the pipeline was planned, and never takes an apply that was cut off
// for done or for not begun.
package actionprogram
