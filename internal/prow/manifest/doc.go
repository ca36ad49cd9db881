// Package manifest reads the Kubernetes manifests that a Prow instance is deployed
// from: which components there are, from which images, with which flags, and where
// each takes its configuration from.
//
// A component is known by its image and its command, never by the name of its object,
// which anybody may choose. Folders that kustomize or Helm make manifests from are left
// alone, and named: what they would produce is not in their files.
//
// It never asks a cluster, never renders a template, and never turns a file that could
// not be read into a smaller deployment: Set.Incomplete says so.
package manifest
