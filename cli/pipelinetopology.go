package cli

import (
	"os"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/topology"
)

// readTopology reads the topology of the files that a flag names; it is nil without any.
func readTopology(paths []string) (*topology.Topology, diagnostic.List, error) {
	if len(paths) == 0 {
		return nil, nil, nil
	}
	read, found, err := topology.Read(paths...)
	if err != nil {
		return nil, nil, usage("--topology: %v", err)
	}
	return read, found, nil
}

// pipelinesOf are the pipelines of service groups, as far as they are there.
func pipelinesOf(services []*topology.Service) []string {
	var paths []string
	for _, service := range services {
		if _, err := os.Stat(service.Pipeline); err == nil && service.Pipeline != "" {
			paths = append(paths, service.Pipeline)
		}
	}
	return paths
}

// validateTogether validates what pipelines say of each other, with those that a topology knows.
func validateTogether(files []*pipeline.File, services *topology.Topology) diagnostic.List {
	if services == nil {
		return pipeline.ValidateTogether(files, nil)
	}
	given := map[string]bool{}
	for _, file := range files {
		given[file.ServiceGroup.Value] = true
	}
	var others []*pipeline.File
	for _, file := range files {
		for _, step := range file.Steps() {
			for _, ref := range step.ExternalDependsOn {
				service, known := services.Lookup(ref.ServiceGroup.Value)
				if !known || given[service.ServiceGroup] {
					continue
				}
				given[service.ServiceGroup] = true
				// One that can't be read says nothing of its steps; validating it says why.
				if other, _, err := pipeline.Read(service.Pipeline); err == nil && other != nil {
					others = append(others, other)
				}
			}
		}
	}
	return pipeline.ValidateTogether(files, services, others...)
}
