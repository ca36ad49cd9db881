// Package groupingoracle compares internal/triage/grouping with Drain, on the same lines in the same run. It is a module
// of its own, so that Salve itself requires no other grouper.
package groupingoracle
