// Package prow is the room of what Salve knows about Prow, the CI system of
// Kubernetes: its configuration (config), GitHub as Prow uses it (github), and what
// drifts between the two (drift).
//
// The facts are about https://github.com/kubernetes-sigs/prow. Nothing in this
// room imports Prow, which would cost this module some five hundred others: what
// matters of its semantics is written here again, small, and held against the
// original by make prow-oracle.
package prow
