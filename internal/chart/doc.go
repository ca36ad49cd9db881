// Package chart renders the Helm chart in deploy/helm/salve, for the tests that apply it and for the manifests of
// kustomize, which are made of it.
//
// It must never reach a cluster, and no program links it.
package chart
