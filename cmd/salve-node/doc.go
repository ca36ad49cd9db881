//go:build linux

// Command salve-node takes a hotfix of the program that provisions a node, at its
// boot: it decides whether there is one, fetches it beside the baked program, and
// runs the one or the other.
//
// Every boot runs this. It must never be what keeps a node from being provisioned:
// whatever goes wrong, the baked program runs. It must stay small, and link no
// client of a cloud or of Kubernetes.
package main
