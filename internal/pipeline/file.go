package pipeline

import (
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// Text is a scalar of the file and where it stands. It is as written, templates
// and all, unless the file was resolved.
type Text struct {
	Value string
	At    diagnostic.Position
}

// File is a pipeline.
type File struct {
	// Path is the file's, as it was given.
	Path         string
	Schema       Text
	ServiceGroup Text
	RolloutName  Text
	// Revision says which state of the world the pipeline rolls out. Salve's own.
	Revision Text
	// Service is what the pipeline deploys. Salve's own; nil where it isn't said.
	Service        *Service
	BuildStep      *BuildStep
	ResourceGroups []*ResourceGroup

	root *yaml.Node
	in   *reading
	// written is the file before it was resolved; nil if it wasn't.
	written *written
}

// written is a file before it was resolved. What it says is read from it again when somebody asks: that is seldom, and
// would be as large as the file itself.
type written struct {
	in   *reading
	root *yaml.Node
}

// Folder is the pipeline's: paths in the file start from there.
func (f *File) Folder() string { return filepath.Dir(f.Path) }

// Steps are all steps in the order of the file, those that validate after the
// others of their resource group.
func (f *File) Steps() []*Step {
	var all []*Step
	for _, group := range f.ResourceGroups {
		all = append(all, group.Steps...)
		all = append(all, group.ValidationSteps...)
	}
	return all
}

// Service says who deploys whom.
type Service struct {
	At diagnostic.Position
	// RunsOn names the system that runs this pipeline.
	RunsOn Text
	// SelfDeploys: the pipeline deploys the very system that runs it.
	SelfDeploys bool
	// Rollback is the way back when that went wrong; nil where there is none.
	Rollback *Rollback
}

// Rollback is a way back that does not depend on what is deployed.
type Rollback struct {
	At diagnostic.Position
	// RunsOn names where it runs: not the system that the pipeline deploys.
	RunsOn Text
	// Command is what to run there.
	Command Text
}

// BuildStep makes what steps execute, before the first of them runs.
type BuildStep struct {
	At      diagnostic.Position
	Command Text
	Args    []Text
}

// ResourceGroup holds the steps that act on one Azure resource group.
type ResourceGroup struct {
	At diagnostic.Position
	// Name is how steps refer to it; the other two are Azure's.
	Name            Text
	ResourceGroup   Text
	Subscription    Text
	Steps           []*Step
	ValidationSteps []*Step
}

// StepID names a step within its file.
type StepID struct{ ResourceGroup, Step string }

// String is the ID as messages have it.
func (id StepID) String() string { return id.ResourceGroup + "/" + id.Step }

// StepRef is a reference to a step of the same file.
type StepRef struct {
	At            diagnostic.Position
	ResourceGroup Text
	Step          Text
}

// ID is the step that the reference names.
func (r StepRef) ID() StepID { return StepID{r.ResourceGroup.Value, r.Step.Value} }

// ExternalRef is a reference to a step of another pipeline.
type ExternalRef struct {
	At            diagnostic.Position
	ServiceGroup  Text
	ResourceGroup Text
	Step          Text
}

// Input is an output of another step.
type Input struct {
	StepRef
	Name Text
}

// Value is given to a step: a literal, a value of the configuration or an output
// of another step.
type Value struct {
	At diagnostic.Position
	// Literal is a string or a []any of strings; in a resolved file, for a
	// ConfigRef, whatever the configuration holds. nil where there is none.
	Literal any
	// ConfigRef is a dotted path into the configuration. It stays in a resolved
	// file, beside the Literal that it led to.
	ConfigRef Text
	Input     *Input
}

// Variable is a named value.
type Variable struct {
	Name Text
	Value
}

// Duration is a length of time and where it stands.
type Duration struct {
	time.Duration
	At diagnostic.Position
}

// Retry says which failures of a step are tried again.
type Retry struct {
	At diagnostic.Position
	// ErrorContainsAny are texts; an error with any of them in it is tried again.
	ErrorContainsAny []Text
	// Count is how often it is tried again: the first try is not counted.
	Count   int
	Between Duration
	// uncounted: the count is a template that is not filled in yet.
	uncounted bool
}
