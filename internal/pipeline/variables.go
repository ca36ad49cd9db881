package pipeline

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/bicep"
	"salve/internal/pipeline/graph"
	"salve/internal/pipeline/revision"
)

// outputs looks whether steps have the outputs that others take from them, where
// that is known: for Shell steps that declare theirs, for steps that deploy a template
// of this machine, and for Soak steps, which have none.
func (v *validator) outputs() {
	known, has := map[StepID][]string{}, map[StepID]map[string]bool{}
	for _, step := range v.steps {
		if names, ok := v.outputsOf(step); ok {
			known[step.ID()], has[step.ID()] = names, map[string]bool{}
			for _, name := range names {
				has[step.ID()][name] = true
			}
		}
	}
	for _, step := range v.steps {
		for _, input := range step.Inputs {
			names, ok := known[input.ID()]
			if !ok || input.Name.Value == "" || has[input.ID()][input.Name.Value] || templated(input.Name.Value) {
				continue
			}
			advice := v.spelling.DidYouMean(input.Name.Value, names)
			if advice == "" && len(names) > 0 && len(names) < 20 {
				advice = "it has " + strings.Join(names, ", ")
			}
			v.add(step, input.Name.At, "unknown-output", advice, "step %s has no output %q", input.ID(), input.Name.Value)
		}
	}
}

// stdout is the output that every Shell step has: what it printed.
const stdout = "stdout"

func (v *validator) outputsOf(step *Step) (names []string, known bool) {
	switch {
	case step.Soak != nil:
		return nil, true
	case step.Shell != nil && step.Shell.Outputs != nil:
		for _, name := range step.Shell.Outputs {
			names = append(names, name.Value)
		}
		return append(names, stdout), true
	case step.Deploys != nil && !v.in.FileOnly:
		return outputsOfTemplate(v.file.TemplateOf(step))
	}
	return nil, false
}

// outputsOfTemplate reads the outputs of a template, JSON or Bicep. What is neither is not
// known.
func outputsOfTemplate(path string) ([]string, bool) {
	format := filepath.Ext(path)
	if format != ".json" && format != ".bicep" {
		return nil, false
	}
	content, err := ReadNamed(path)
	if err != nil {
		return nil, false
	}
	if format == ".bicep" {
		return bicep.Outputs(string(content)), true
	}
	var template struct {
		Outputs map[string]json.RawMessage `json:"outputs"`
	}
	if json.Unmarshal(content, &template) != nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(template.Outputs)), true
}

// variables finds variables of a step that hide another.
func (v *validator) variables(step *Step) {
	switch {
	case step.Shell != nil:
		v.shadows(step, step.Shell.Variables)
		v.environment(step, step.Shell.Variables)
		v.structured(step, step.Shell.Variables)
		if dry := step.Shell.DryRun; dry != nil {
			v.shadows(step, dry.Variables) // they are there to hide the step's own
			v.environment(step, dry.Variables)
			v.structured(step, dry.Variables)
		}
	case step.ARM != nil:
		v.shadows(step, step.ARM.Variables)
	}
}

func (v *validator) shadows(step *Step, variables []Variable) {
	seen := map[string]Text{}
	for _, variable := range variables {
		name := variable.Name
		switch before, twice := seen[strings.ToUpper(name.Value)]; {
		case name.Value == "":
			// Parse has said that it needs one.
		case !twice:
			seen[strings.ToUpper(name.Value)] = name
		case before.Value == name.Value:
			v.add(step, name.At, "shadowed-variable", "remove one of the two",
				"variable %s is here twice; it is also on line %d", name.Value, before.At.Line)
		default:
			v.warn(step, name.At, "shadowed-variable", "name them apart", "variables %s and %s differ in case only",
				before.Value, name.Value)
		}
	}
}

var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environment validates names of variables that a shell is to find.
func (v *validator) environment(step *Step, variables []Variable) {
	for _, variable := range variables {
		name := variable.Name
		switch {
		case name.Value == "" || templated(name.Value):
		case !environmentName.MatchString(name.Value):
			v.add(step, name.At, "variable-name", "use letters, digits and underscores",
				"no shell can read a variable that is called %q", name.Value)
		case strings.HasPrefix(name.Value, "SALVE_"):
			v.add(step, name.At, "shadowed-variable", "call it something else", "variable %s hides one of Salve's own",
				name.Value)
		case ruling()[name.Value] != "":
			v.warn(step, name.At, "shadowed-variable", "set it in the command instead", "variable %s hides the one by which %s",
				name.Value, ruling()[name.Value])
		}
	}
}

// structured notes which variables of a Shell step are more than a text.
func (v *validator) structured(step *Step, variables []Variable) {
	for _, variable := range variables {
		var kind, form string
		switch variable.Literal.(type) {
		case map[string]any:
			kind, form = "a mapping", "map[…]"
		case []any:
			kind, form = "a list", "[a b]"
		}
		if kind == "" || variable.ConfigRef.Value == "" || v.in.Config == nil {
			continue
		}
		v.warn(step, variable.ConfigRef.At, "variable-json", "",
			"variable %s gets JSON here, because %s in %s is %s; other rollout tools give it in Go's form, %s",
			variable.Name.Value, variable.ConfigRef.Value, v.in.Config.Path, kind, form)
		v.found[len(v.found)-1].Severity = diagnostic.Note
	}
}

// ruling are variables that change how every program of a step works.
func ruling() map[string]string {
	return map[string]string{
		"PATH": "programs are found", "HOME": "programs find what is theirs: a step has an empty one of its own",
		"IFS":      "the shell takes words apart",
		"BASH_ENV": "bash runs a file before the command", "ENV": "shells run a file before the command",
		"SHELLOPTS": "bash is told its options", "BASHOPTS": "bash is told its options",
		"LD_PRELOAD": "code is loaded into programs", "LD_LIBRARY_PATH": "programs find their libraries",
	}
}

// times validates retries that never happen, and steps that are ended while what they
// run still has time.
func (v *validator) times(step *Step) {
	if retry := step.Retry; retry != nil {
		switch {
		case retry.Count > 0 && len(retry.ErrorContainsAny) == 0:
			v.warn(step, retry.At, "retry-never", "say which errors in errorContainsAny",
				"it is never tried again, because no error is named")
		case retry.Count == 0 && len(retry.ErrorContainsAny) > 0 && !retry.uncounted:
			v.warn(step, retry.At, "retry-never", "give a maximumRetryCount above 0",
				"it is never tried again, because maximumRetryCount is missing or 0")
		}
		for _, text := range retry.ErrorContainsAny {
			if text.Value == "" {
				v.warn(step, text.At, "retry-always", "name the errors that pass by themselves",
					"every error contains the empty text")
			}
		}
	}
	if step.Runbook == nil {
		return
	}
	budget, ok := v.budget(step)
	if ok && step.Timeout != nil && step.Timeout.Duration < budget {
		v.add(step, step.Timeout.At, "timeout-below-budget",
			"give it longer than the budget, or give the runbook a smaller budget",
			"the timeout of %s is shorter than the runbook's budget of %s", graph.Brief(step.Timeout.Duration),
			graph.Brief(budget))
	}
}

// revision looks whether the pipeline's could be compared with others.
func (v *validator) revision() {
	text := v.file.Revision
	if text.Value == "" || templated(text.Value) {
		return
	}
	if err := revision.Check(text.Value); err != nil {
		v.add(nil, text.At, "unordered-revision", "", "%v", err)
	}
}

// soaks warns of a Soak that no other run has a part in.
func (v *validator) soaks(step *Step) {
	if step.Soak != nil && v.file.Revision.At.Line == 0 {
		v.warn(step, step.Action.At, "soak-without-revision", "give the pipeline a revision",
			"without a revision it waits in every run anew: nobody can tell whether an earlier run rolled out the same")
	}
}

// service looks whether a pipeline that deploys the system which runs it has a way
// back that doesn't need that system: a version that can't run pipelines can't run
// the one that would replace it.
func (v *validator) service() {
	service := v.file.Service
	if service == nil {
		return
	}
	if service.SelfDeploys && service.RunsOn.Value == "" {
		v.add(nil, service.At, "missing-field", "",
			"a service with selfDeploys needs \"runsOn\", the name of the system that runs this pipeline")
	}
	switch back := service.Rollback; {
	case back == nil && service.SelfDeploys:
		v.add(nil, service.At, "no-way-back", "add a rollback with runsOn and command",
			"this pipeline deploys the system that runs it, and has no rollback that runs elsewhere")
	case back != nil && back.RunsOn.Value != "" && strings.EqualFold(back.RunsOn.Value, service.RunsOn.Value):
		v.add(nil, back.RunsOn.At, "no-way-back", "name a place that still works when it doesn't",
			"the rollback runs on %s, which is what this pipeline deploys", back.RunsOn.Value)
	}
}
