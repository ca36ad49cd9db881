// Package schema validates the YAML of a pipeline by its shape: which fields there
// are, what they hold, which of them a step of each action needs. It is
// pipeline.schema.v1 with what Salve adds, as tables in Go.
//
// It knows nothing of what fields mean: names that must exist, cycles, files and
// configurations are not its business.
package schema
