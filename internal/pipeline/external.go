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
}

// ValidateTogether validates what pipelines say of each other: a step that one of
// them waits for in another's service group must be there. Service groups that
// none of the files has are validated by a topology; nil has none. Others are files that
// are only looked into.
func ValidateTogether(files []*File, topology Services, others ...*File) diagnostic.List {
	groups, steps := map[string][]string{}, map[string]map[StepID]bool{}
	for _, file := range slices.Concat(files, others) {
		service := file.ServiceGroup.Value
		if steps[service] == nil {
			steps[service] = map[StepID]bool{}
		}
		for _, step := range file.Steps() {
			steps[service][step.ID()] = true
			groups[service] = append(groups[service], step.ID().String())
		}
	}
	found := services(files, topology)
	var spelling diagnostic.Speller
	for _, file := range files {
		for _, step := range file.Steps() {
			for _, ref := range step.ExternalDependsOn {
				service, id := ref.ServiceGroup.Value, StepID{ref.ResourceGroup.Value, ref.Step.Value}
				if steps[service] == nil || steps[service][id] || id.Step == "" {
					continue
				}
				wrong := problem(ref.Step.At, "external-unknown-step", "there is no step %s in service group %s", id, service)
				wrong.Step, wrong.Advice = step.ID().String(), spelling.DidYouMean(id.String(), groups[service])
				found = append(found, wrong)
			}
		}
	}
	return found
}

// services validates the service groups that pipelines are of and wait for.
func services(files []*File, topology Services) diagnostic.List {
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
		for _, step := range file.Steps() {
			for _, ref := range step.ExternalDependsOn {
				switch named := ref.ServiceGroup; {
				case named.Value == "" || templated(named.Value):
				case !known[named.Value]:
					v.add(step, named.At, "unknown-service-group", v.spelling.DidYouMean(named.Value, names),
						"the topology has no service group %s", named.Value)
				case topology.After(named.Value, own.Value):
					v.add(step, named.At, "cycle", "remove the dependency",
						"service group %s is rolled out after %s, so that neither could begin", named.Value, own.Value)
				}
			}
		}
	}
	return v.found
}
