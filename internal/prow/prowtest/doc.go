// Package prowtest runs Prow's own programs on the tests' control plane: plank (prow-controller-manager), sinker,
// crier, status-reconciler, branchprotector and checkconfig, as make prow builds them, with the real ProwJob kind,
// configurations on disk and a kubeconfig as they want it.
//
// A release of a Prow is a configuration and a process here. What runs ends with the test, however that ends; what it
// logged is shown when the test fails. Prow's programs listen on all interfaces, on free ports: they can't be told
// otherwise.
//
// It must never be linked into a program that users run, and never judge: what a component did is read from the
// cluster.
package prowtest
