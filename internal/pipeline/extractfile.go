package pipeline

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"salve/internal/pipeline/schema"
)

func fileOf(in *reading, root *yaml.Node) *File {
	top := object{in, root}
	file := &File{
		Path: in.path, Schema: top.text("$schema"), ServiceGroup: top.text("serviceGroup"),
		RolloutName: top.text("rolloutName"), Revision: top.text("revision"), root: root, in: in,
	}
	if service := top.object("service"); service.exists() {
		file.Service = serviceOf(service)
	}
	if build := top.object("buildStep"); build.exists() {
		file.BuildStep = &BuildStep{At: build.at(), Command: build.text("command"), Args: build.texts("args")}
	}
	for _, group := range top.objects("resourceGroups") {
		file.ResourceGroups = append(file.ResourceGroups, groupOf(group))
	}
	return file
}

func serviceOf(from object) *Service {
	service := &Service{At: from.at(), RunsOn: from.text("runsOn"), SelfDeploys: from.truth("selfDeploys")}
	if back := from.object("rollback"); back.exists() {
		service.Rollback = &Rollback{At: back.at(), RunsOn: back.text("runsOn"), Command: back.text("command")}
	}
	return service
}

func groupOf(from object) *ResourceGroup {
	group := &ResourceGroup{
		At: from.at(), Name: from.text("name"),
		ResourceGroup: from.text("resourceGroup"), Subscription: from.text("subscription"),
	}
	for _, step := range from.objects("steps") {
		group.Steps = append(group.Steps, stepOf(step, group))
	}
	for _, step := range from.objects("validationSteps") {
		read := stepOf(step, group)
		read.Validation = true
		group.ValidationSteps = append(group.ValidationSteps, read)
	}
	return group
}

func stepOf(from object, group *ResourceGroup) *Step {
	step := &Step{
		from: from, At: from.at(), Group: group, Name: from.text("name"), Action: from.text("action"),
		Timeout: from.duration("timeout"), Idempotent: from.truth("idempotent"),
	}
	for _, ref := range from.objects("dependsOn") {
		step.DependsOn = append(step.DependsOn, ref.ref())
	}
	for _, ref := range from.objects("externalDependsOn") {
		step.ExternalDependsOn = append(step.ExternalDependsOn, ExternalRef{
			At: ref.at(), ServiceGroup: ref.text("serviceGroup"), ResourceGroup: ref.text("resourceGroup"),
			Step: ref.text("step"),
		})
	}
	if retry := from.object("automatedRetry"); retry.exists() {
		step.Retry = retryOf(retry)
	}
	if facts := from.in.facts[from.node]; facts != nil {
		step.refer(from.in, facts)
	}
	switch step.Action.Value {
	case ActionShell:
		step.Shell = shellOf(from)
	case ActionARM:
		step.ARM = armOf(from)
		step.deploys(from)
	case ActionStack:
		step.ARM = armOf(from)
		step.ARM.Stack = &Stack{
			OnUnmanage: from.text("actionOnUnmanage"), BypassOutOfSync: from.truth("bypassStackOutOfSyncError"),
		}
		step.deploys(from)
	case ActionRunbook:
		step.Runbook = runbookOf(from)
	case ActionSoak:
		step.Soak = soakOf(from)
	default:
		step.Fields = fieldsOf(from)
		step.Paths = slices.DeleteFunc(step.Paths, func(path Text) bool { return inRegistry(path.Value) })
	}
	return step
}

// deploys gives a step the files that it deploys. A template that nobody reads is not among its paths.
func (s *Step) deploys(from object) {
	s.Deploys = &Deploys{Template: from.text("template"), Parameters: from.text("parameters")}
	if s.Deploys.BicepParameters() {
		s.Paths = slices.DeleteFunc(s.Paths, func(path Text) bool { return path == s.Deploys.Template })
	}
}

// refer gives a step what it refers to, wherever in it that stands.
func (s *Step) refer(in *reading, facts *schema.Facts) {
	for _, node := range facts.Inputs {
		s.Inputs = append(s.Inputs, object{in, node}.input())
	}
	for _, node := range facts.ConfigRefs {
		s.ConfigRefs = append(s.ConfigRefs, textOf(in.path, node))
	}
	for _, node := range facts.Paths {
		s.Paths = append(s.Paths, textOf(in.path, node))
	}
}

func retryOf(from object) *Retry {
	retry := &Retry{At: from.at(), ErrorContainsAny: from.texts("errorContainsAny"),
		Count: from.number("maximumRetryCount")}
	if count := from.field("maximumRetryCount"); count != nil {
		retry.uncounted = count.Tag == schema.Template
	}
	if between := from.duration("durationBetweenRetries"); between != nil {
		retry.Between = *between
	}
	return retry
}

func shellOf(from object) *Shell {
	shell := &Shell{
		Command: from.text("command"), WorkingDir: from.text("workingDir"), Variables: from.variables("variables"),
		Identity: from.object("shellIdentity").value(), AKSCluster: from.text("aksCluster"), Outputs: from.texts("outputs"),
		Observe: from.text("observe"),
	}
	if shell.Outputs == nil && from.field("outputs") != nil {
		shell.Outputs = []Text{} // it declares that it has none
	}
	if dry := from.object("dryRun"); dry.exists() {
		shell.DryRun = &DryRun{At: dry.at(), Command: dry.text("command"), Variables: dry.variables("variables")}
	}
	return shell
}

func armOf(from object) *ARM {
	return &ARM{
		Template: from.text("template"), Parameters: from.text("parameters"), Variables: from.variables("variables"),
		DeploymentLevel: from.text("deploymentLevel"), DeploymentMode: from.text("deploymentMode"),
		OutputOnly: from.truth("outputOnly"),
	}
}

func runbookOf(from object) *Runbook {
	book := &Runbook{Runbook: from.text("runbook"), OnUndecided: from.text("onUndecided")}
	with := from.object("with")
	if !with.exists() {
		return book
	}
	for i := 0; i+1 < len(with.node.Content); i += 2 {
		name, given := with.node.Content[i], with.node.Content[i+1]
		variable := Variable{Name: textOf(from.in.path, name)}
		if given.Kind == yaml.MappingNode {
			variable.Value = object{from.in, given}.value()
		} else {
			variable.Value = Value{At: position(from.in.path, given), Literal: literal(given)}
		}
		book.With = append(book.With, variable)
	}
	return book
}

func soakOf(from object) *Soak {
	soak := &Soak{}
	if since := from.object("since"); since.exists() {
		soak.Since = since.ref()
	}
	if length := from.duration("duration"); length != nil {
		soak.Duration = *length
	}
	return soak
}
