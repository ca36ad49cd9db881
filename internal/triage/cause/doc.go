// Package cause asks which values of attributes the failures of a group go with: a cluster, a region, an architecture.
// It compares the scenarios that failed with those that passed; failures of other groups are left out, for they are
// neither.
//
// It never says why a value fails, nor that the change under test did or didn't do it. What it can't tell apart it
// names together, and where there is too little it says undecided.
package cause
