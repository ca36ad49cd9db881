package pipeline

import (
	"fmt"

	"salve/internal/diagnostic"
)

// Environment are what a pipeline is validated by, besides the schema.
type Environment struct {
	// Config is where templates and configRefs lead; nil leaves them as they are,
	// and what depends on them is not validated.
	Config *Config
	// Root is the folder that steps may work in; empty leaves it to the repository that the pipeline is in, and to the
	// pipeline's own folder where there is none.
	Root string
	// AnyTemplates: .bicepparam files may hold templates that are more than a path, without a warning.
	AnyTemplates bool
	// FileOnly: the folder of the pipeline is not at hand, so that the files which
	// it names are not looked for.
	FileOnly bool
	// LookPath finds a program on PATH. nil finds none to be missing.
	LookPath func(program string) (string, error)
	// Programs gives the program that runs an action which is not in the schema. nil looks for none.
	Programs func(action string) (path string, err error)
	// Runbooks are those that there are, by their names. nil validates none.
	Runbooks map[string]RegisteredRunbook
	// Fields refuse values, by actions and the names of their fields. nil refuses none.
	Fields map[string]map[string]Refusal
	// Unread tells that a step never looks at a field, whose value is not judged then. nil is never.
	Unread func(step *Step, field string) bool
}

// Validate validates a pipeline that was parsed: names, dependencies, inputs, files,
// programs and times. It gives the file with the configuration resolved, and
// everything that is wrong beyond what Parse said, by place.
func Validate(file *File, in Environment) (*File, diagnostic.List) {
	v := &validator{file: file, in: in}
	if in.Config != nil {
		v.file, v.found = file.Resolve(in.Config)
	}
	v.steps = v.file.Steps()
	v.names()
	v.references()
	v.cycles()
	v.outputs()
	v.revision()
	v.service()
	for _, step := range v.steps {
		v.variables(step)
		v.times(step)
		v.soaks(step)
	}
	v.runbooks()
	v.charts()
	v.values()
	v.effects()
	v.programs()
	v.folder()
	v.parameters()
	v.placeholders()
	v.comments()
	v.found.Sort()
	return v.file, v.found
}

// validator finds what is wrong with one file.
type validator struct {
	file  *File
	in    Environment
	steps []*Step
	// groups and ids are the steps by their names; of two with the same name, the
	// first.
	groups map[string]*ResourceGroup
	ids    map[StepID]int
	// stepNames are the names of each group's steps.
	stepNames map[*ResourceGroup][]string
	// groupNames are the names of all groups, and elsewhere the first group that has
	// a step of a name.
	groupNames []string
	elsewhere  map[string]string
	// folders and files say what is wrong with those that were looked at; nothing is
	// looked at twice.
	folders, files map[string]string
	// rootFolder and rootCalled are the folder that steps may work in, once it was asked for.
	rootFolder, rootCalled string
	spelling               diagnostic.Speller
	found                  diagnostic.List
}

// add notes what is wrong; step is nil for what is outside of steps.
func (v *validator) add(step *Step, at diagnostic.Position, rule, advice, format string, args ...any) {
	wrong := problem(at, rule, format, args...)
	wrong.Advice = advice
	if step != nil && step.Name.Value != "" {
		wrong.Step = step.ID().String()
	}
	v.found = append(v.found, wrong)
}

// warn notes what hardly means what it says.
func (v *validator) warn(step *Step, at diagnostic.Position, rule, advice, format string, args ...any) {
	v.add(step, at, rule, advice, format, args...)
	v.found[len(v.found)-1].Severity = diagnostic.Warning
}

// names finds what is there twice, and remembers what there is.
func (v *validator) names() {
	v.groups, v.ids = map[string]*ResourceGroup{}, map[StepID]int{}
	v.stepNames, v.elsewhere = map[*ResourceGroup][]string{}, map[string]string{}
	for _, group := range v.file.ResourceGroups {
		name := group.Name
		if name.Value == "" {
			continue // Parse has said that it needs one
		}
		v.groupNames = append(v.groupNames, name.Value)
		if before := v.groups[name.Value]; before != nil {
			v.add(nil, name.At, "duplicate-name", "rename one of the two",
				"there are two resource groups %q; the other is on line %d", name.Value, before.Name.At.Line)
			continue
		}
		v.groups[name.Value] = group
	}
	for i, step := range v.steps {
		v.stepNames[step.Group] = append(v.stepNames[step.Group], step.Name.Value)
		if before, ok := v.ids[step.ID()]; ok && step.Name.Value != "" {
			v.add(step, step.Name.At, "duplicate-name", "rename one of the two",
				"there are two steps of this name; the other is on line %d", v.steps[before].Name.At.Line)
			continue
		}
		v.ids[step.ID()] = i
		if _, ok := v.elsewhere[step.Name.Value]; !ok {
			v.elsewhere[step.Name.Value] = step.Group.Name.Value
		}
	}
}

// references looks whether there is what steps refer to.
func (v *validator) references() {
	for _, step := range v.steps {
		seen := map[StepID]bool{}
		for _, ref := range step.DependsOn {
			v.exists(step, ref)
			if seen[ref.ID()] && ref.Step.Value != "" {
				v.warn(step, ref.At, "duplicate-dependency", "remove one of the two", "it depends on %s twice", ref.ID())
			}
			seen[ref.ID()] = true
		}
		for _, input := range step.Inputs {
			v.exists(step, input.StepRef)
		}
		if step.Soak != nil {
			v.exists(step, step.Soak.Since)
		}
		for _, ref := range step.ExternalDependsOn {
			if own := v.file.ServiceGroup.Value; ref.ServiceGroup.Value == own && own != "" {
				v.warn(step, ref.At, "external-own-service", "write it into dependsOn", "%s is this pipeline's own service group",
					own)
			}
		}
	}
}

// exists looks whether there is the step that a reference names.
func (v *validator) exists(step *Step, ref StepRef) {
	group, id := v.groups[ref.ResourceGroup.Value], ref.ID()
	switch at, known := v.ids[id]; {
	case id.ResourceGroup == "" || id.Step == "":
		// Parse has said what is missing.
	case group == nil:
		v.add(step, ref.ResourceGroup.At, "unknown-step", v.spelling.DidYouMean(id.ResourceGroup, v.groupNames),
			"there is no resource group %q", id.ResourceGroup)
	case !known:
		v.add(step, ref.Step.At, "unknown-step", v.nearStep(group, id.Step), "there is no step %q in resource group %q",
			id.Step, id.ResourceGroup)
	case v.steps[at].Validation && !step.Validation:
		v.add(step, ref.At, "waits-for-validation", "", "%s is a validation step, which runs after the rollout", id)
	}
}

// nearStep suggests a step of the group, or says in which other group there is one
// of the name.
func (v *validator) nearStep(group *ResourceGroup, name string) string {
	if elsewhere, ok := v.elsewhere[name]; ok {
		return fmt.Sprintf("did you mean the one in resource group %q?", elsewhere)
	}
	return v.spelling.DidYouMean(name, v.stepNames[group])
}
