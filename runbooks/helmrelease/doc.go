// Package helmrelease is the runbook helm-release: it installs or upgrades a Helm release, and goes on with what an
// earlier process began. Pipelines run it for their Helm steps.
//
// It never acts on a release on which somebody else's operation is pending, never calls a release deployed whose
// objects it has not seen ready, and writes neither values nor manifests into the record.
package helmrelease
