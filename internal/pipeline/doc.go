// Package pipeline reads rollout pipelines: YAML files of resource groups whose
// steps depend on each other, in the shape of pipeline.schema.v1 and with what
// Salve adds to it (docs/pipelines.md).
//
// It parses, resolves what a configuration holds, and validates. It never runs
// anything, never changes a file, and never guesses: what it can't validate from
// the file, its folder and the configuration, it leaves alone.
package pipeline
