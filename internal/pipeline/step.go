package pipeline

import (
	"salve/internal/diagnostic"
)

// The actions that Salve runs itself. All others of the schema are known by name
// and shape.
const (
	ActionShell   = "Shell"
	ActionARM     = "ARM"
	ActionStack   = "ARMStack"
	ActionRunbook = "Runbook"
	ActionSoak    = "Soak"
)

// Step is one step of a resource group. What its action adds is in the field of
// that name, for the actions that Salve runs itself.
type Step struct {
	At diagnostic.Position
	// Group is the resource group that the step is in.
	Group  *ResourceGroup
	Name   Text
	Action Text
	// DependsOn are as written; Inputs and a Soak's Since are dependencies too.
	DependsOn         []StepRef
	ExternalDependsOn []ExternalRef
	Retry             *Retry
	// Timeout bounds one try; nil leaves it to whoever runs the step.
	Timeout *Duration
	// Idempotent: running the step again after it may have run does no harm.
	// Salve's own.
	Idempotent bool
	// Validation: the step is one of the validationSteps.
	Validation bool
	// Inputs are all outputs of other steps that the step is given, wherever they
	// stand in it.
	Inputs []Input
	// ConfigRefs are all its paths into the configuration, and Paths those of files
	// and folders, from the pipeline's folder, wherever they stand in it. A Shell
	// step's command and workingDir are not among them.
	ConfigRefs []Text
	Paths      []Text

	// Deploys are the files of an ARM or ARMStack step; nil for others.
	Deploys *Deploys

	Shell   *Shell
	ARM     *ARM
	Runbook *Runbook
	Soak    *Soak
	// Fields are what any other action adds to the step.
	Fields []Field

	from object
}

// ID names the step within its file.
func (s *Step) ID() StepID { return StepID{s.Group.Name.Value, s.Name.Value} }

// Upstream are the references to all steps that must be done before this one.
func (s *Step) Upstream() []StepRef {
	upstream := append([]StepRef(nil), s.DependsOn...)
	for _, input := range s.Inputs {
		upstream = append(upstream, input.StepRef)
	}
	if s.Soak != nil {
		upstream = append(upstream, s.Soak.Since)
	}
	return upstream
}

// Shell is what the action Shell adds to a step.
type Shell struct {
	// Command is a line or a script of the shell.
	Command Text
	// WorkingDir is where it runs, from the pipeline's folder; empty is the folder.
	WorkingDir Text
	Variables  []Variable
	// DryRun is what runs instead when nothing may be changed; nil where there is
	// no such thing.
	DryRun *DryRun
	// Identity is who the command acts as.
	Identity Value
	// AKSCluster names the cluster that the command is given access to; empty for
	// none.
	AKSCluster Text
	// Outputs are the names that the step gives to later ones. Salve's own; nil
	// where they aren't declared.
	Outputs []Text
	// Observe is a line or a script that tells whether the step has done its work. Salve's
	// own; empty for none.
	Observe Text
}

// Scripts are what a run of the step executes.
func (s *Shell) Scripts() []Text {
	if s.Observe.Value == "" {
		return []Text{s.Command}
	}
	return []Text{s.Command, s.Observe}
}

// DryRun is the variant of a Shell step that changes nothing.
type DryRun struct {
	At        diagnostic.Position
	Command   Text
	Variables []Variable
}

// ARM is what the actions ARM and ARMStack add to a step.
type ARM struct {
	// Stack is what ARMStack adds besides; nil for ARM.
	Stack *Stack
	// Template and Parameters are paths from the pipeline's folder. Where the parameters are Bicep, the template is what
	// these name, and Template is not read.
	Template   Text
	Parameters Text
	Variables  []Variable
	// DeploymentLevel is ResourceGroup or Subscription.
	DeploymentLevel Text
	// DeploymentMode is incremental (also where it is empty) or complete.
	DeploymentMode Text
	// OutputOnly: the template looks things up and changes nothing.
	OutputOnly bool
}

// Stack is what the action ARMStack adds to what ARM does.
type Stack struct {
	// OnUnmanage is delete or detach: what becomes of what the stack had and the template has no more.
	OnUnmanage Text
	// BypassOutOfSync: go on although ARM can't be sure of what the stack has.
	BypassOutOfSync bool
}

// Runbook is what Salve's own action Runbook adds to a step.
type Runbook struct {
	Runbook Text
	// With are the runbook's inputs, in the order of the file.
	With []Variable
	// OnUndecided is what a runbook that could not see means to the pipeline: fail
	// (also where it is empty) or continue.
	OnUndecided Text
}

// Soak is what Salve's own action Soak adds to a step: it is done when a time has
// passed since a step first succeeded for the pipeline's revision.
type Soak struct {
	Since    StepRef
	Duration Duration
}
