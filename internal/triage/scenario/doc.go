// Package scenario makes one row of each scenario out of the cases that were read: its last attempt, its attributes,
// and the group that it failed in. What it keeps grows with the number of scenarios, not with the size of their logs.
//
// It judges nothing, and never leaves out what passed.
package scenario
