package pipeline

import (
	"salve/internal/diagnostic"
)

// ValidateTogether validates what pipelines say of each other: a step that one of
// them waits for in another's service group must be there. Service groups that
// none of the files has are not validated.
func ValidateTogether(files []*File) diagnostic.List {
	groups, steps := map[string][]string{}, map[string]map[StepID]bool{}
	for _, file := range files {
		service := file.ServiceGroup.Value
		if steps[service] == nil {
			steps[service] = map[StepID]bool{}
		}
		for _, step := range file.Steps() {
			steps[service][step.ID()] = true
			groups[service] = append(groups[service], step.ID().String())
		}
	}
	var found diagnostic.List
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
