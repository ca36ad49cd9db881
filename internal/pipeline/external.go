package pipeline

import (
	"slices"

	"salve/internal/diagnostic"
)

// Services are the service groups of a topology.
type Services interface {
	// ServiceGroups are the names of all.
	ServiceGroups() []string
	// After tells whether a service group is rolled out after another.
	After(group, other string) bool
	// WaitsForStamps tells whether a service group that is there once would wait for one that each stamp has.
	WaitsForStamps(group, other string) bool
}

// Outline is what other pipelines may know of one: it is all that is kept of each where many are validated.
type Outline struct {
	ServiceGroup Text
	Steps        []StepID
	// External are the steps of other service groups that its steps wait for.
	External []ExternalStep
}

// ExternalStep is a step of another service group, and the one that waits for it.
type ExternalStep struct {
	Step StepID
	Ref  ExternalRef
}

// Outline is that of the file.
func (f *File) Outline() *Outline {
	steps := f.Steps()
	made := &Outline{ServiceGroup: f.ServiceGroup, Steps: make([]StepID, 0, len(steps))}
	for _, step := range steps {
		made.Steps = append(made.Steps, step.ID())
		for _, ref := range step.ExternalDependsOn {
			made.External = append(made.External, ExternalStep{step.ID(), ref})
		}
	}
	return made
}

// ValidateTogether validates what pipelines say of each other: a step that one of
// them waits for in another's service group must be there. Service groups that
// none of them has are validated by a topology; nil has none. Others are pipelines that
// are only looked into.
func ValidateTogether(files []*Outline, topology Services, others ...*Outline) diagnostic.List {
	steps := map[string]map[StepID]bool{}
	for _, file := range slices.Concat(files, others) {
		service := file.ServiceGroup.Value
		if steps[service] == nil {
			steps[service] = map[StepID]bool{}
		}
		for _, id := range file.Steps {
			steps[service][id] = true
		}
	}
	found := services(files, topology)
	var spelling diagnostic.Speller
	for _, file := range files {
		for _, one := range file.External {
			ref := one.Ref
			service, id := ref.ServiceGroup.Value, StepID{ref.ResourceGroup.Value, ref.Step.Value}
			if steps[service] == nil || steps[service][id] || id.Step == "" {
				continue
			}
			wrong := problem(ref.Step.At, "external-unknown-step", "there is no step %s in service group %s", id, service)
			wrong.Step, wrong.Advice = one.Step.String(), spelling.DidYouMean(id.String(), namesOf(steps[service]))
			found = append(found, wrong)
		}
	}
	return found
}

func namesOf(steps map[StepID]bool) []string {
	names := make([]string, 0, len(steps))
	for id := range steps {
		names = append(names, id.String())
	}
	slices.Sort(names)
	return names
}

// services validates the service groups that pipelines are of and wait for.
func services(files []*Outline, topology Services) diagnostic.List {
	if topology == nil {
		return nil
	}
	names := topology.ServiceGroups()
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	v := &validator{}
	for _, file := range files {
		own := file.ServiceGroup
		if own.Value != "" && !known[own.Value] {
			v.warn(nil, own.At, "unknown-service-group", v.spelling.DidYouMean(own.Value, names),
				"the topology has no service group %s", own.Value)
		}
		for _, one := range file.External {
			before := len(v.found)
			switch named := one.Ref.ServiceGroup; {
			case named.Value == "" || templated(named.Value):
			case !known[named.Value]:
				v.add(nil, named.At, "unknown-service-group", v.spelling.DidYouMean(named.Value, names),
					"the topology has no service group %s", named.Value)
			case topology.After(named.Value, own.Value):
				v.add(nil, named.At, "cycle", "remove the dependency",
					"service group %s is rolled out after %s, so that neither could begin", named.Value, own.Value)
			case topology.WaitsForStamps(own.Value, named.Value):
				v.add(nil, named.At, "waits-for-stamp",
					"remove the dependency, or have the topology say stamped: true of "+own.Value,
					"service group %s is there once in each stamp, and %s is not: which stamp is meant can't be told", named.Value,
					own.Value)
			}
			if len(v.found) > before && one.Step.Step != "" {
				v.found[before].Step = one.Step.String()
			}
		}
	}
	return v.found
}
