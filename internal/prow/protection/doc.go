// Package protection decides what the protection of a branch is to be: the live object, with what the configuration
// speaks about put in its place, and how a branch stands to that.
//
// It decides from values and makes no call. It must never drop what the configuration says nothing about, and never
// turn a branch that is to be protected into one that is not.
package protection
