// Package topology reads topologies: YAML files of service groups, each with its pipeline, in the tree in which they
// are rolled out, and of the entrypoints that name the parts of it that are rolled out together.
//
// It never reads the pipelines, and never runs anything.
package topology
