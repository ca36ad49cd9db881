// Package bicep reads from the source of Bicep files what can be known of them without a compiler: which template a
// file of parameters is for, and which outputs a template declares.
//
// It never compiles, never follows modules, and never says that a file is right: what it does not understand it does
// not know.
package bicep
