// Package gotemplate fills texts in by Go's text/template, as rollout tools do: a missing key is an error, and no
// function is added to those that the language has.
//
// It never reads a file, and a template never makes it run or write without end.
package gotemplate
