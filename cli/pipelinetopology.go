package cli

import (
	"os"
	"path/filepath"

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
func validateTogether(files []*pipeline.Outline, services *topology.Topology) diagnostic.List {
	if services == nil {
		return pipeline.ValidateTogether(files, nil)
	}
	given := map[string]bool{}
	for _, file := range files {
		given[file.ServiceGroup.Value] = true
	}
	var others []*pipeline.Outline
	for _, file := range files {
		for _, one := range file.External {
			service, known := services.Lookup(one.Ref.ServiceGroup.Value)
			if !known || given[service.ServiceGroup] {
				continue
			}
			given[service.ServiceGroup] = true
			// One that can't be read says nothing of its steps; validating it says why.
			if other, _, err := pipeline.Read(service.Pipeline); err == nil && other != nil {
				others = append(others, other.Outline())
			}
		}
	}
	return pipeline.ValidateTogether(files, services, others...)
}

// misnamed finds pipelines that a topology has for another service group.
func misnamed(files []*pipeline.Outline, services *topology.Topology) diagnostic.List {
	if services == nil {
		return nil
	}
	byPath := map[string]*pipeline.Outline{}
	for _, file := range files {
		byPath[filepath.Clean(file.ServiceGroup.At.File)] = file
	}
	var found diagnostic.List
	for _, service := range services.Services() {
		if file := byPath[filepath.Clean(service.Pipeline)]; file != nil {
			found = append(found, service.Misnamed(file)...)
		}
	}
	return found
}
