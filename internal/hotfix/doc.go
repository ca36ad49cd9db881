// Package hotfix decides whether a node takes a hotfix of the program that
// provisions it: from the version baked into its image and a pointer file that
// was delivered with the machine.
//
// Deciding is pure: the same two inputs give the same decision, on the node and
// for whoever reviews the pointer. The lane is fail-open: whatever is
// wrong with the input, the answer is a Decision, and in doubt it says «none».
//
// This package must never panic on any input, never choose a version that isn't
// of the node's own base and higher than the one it has, and never hold more of
// a pointer than MaxPointerSize. It knows no package manager, no network and no
// process; those are in the rooms below it.
package hotfix
