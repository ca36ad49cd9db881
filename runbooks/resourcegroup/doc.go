// Package resourcegroup is the resource group that a step of a pipeline works in: whether it is there, and the step
// that makes it where it is missing. Runbooks that deploy share it.
//
// It never makes one whose location is not known, never changes one that is there, and never deletes one.
package resourcegroup
