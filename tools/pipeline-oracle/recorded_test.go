package pipelineoracle

import (
	"bufio"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"salve/internal/pipeline"
	"salve/internal/pipeline/topology"
)

var checkout = flag.String("aro-tools", "", "a checkout of github.com/Azure/ARO-Tools")

// recorded is a graph as the tool drew it: steps are known as SERVICE_GROUP_STEP.
type recorded struct {
	nodes map[string]bool
	edges map[[2]string]bool
}

var (
	node = regexp.MustCompile(`^ "([^"]+)" \[label=`)
	edge = regexp.MustCompile(`^ "([^"]+)" -> "([^"]+)";`)
)

func read(t *testing.T, name string) recorded {
	t.Helper()
	file, err := os.Open(filepath.Join(*checkout, "pipelines", "graph", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	graph := recorded{map[string]bool{}, map[[2]string]bool{}}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if match := node.FindStringSubmatch(lines.Text()); match != nil {
			graph.nodes[match[1]] = true
		}
		if match := edge.FindStringSubmatch(lines.Text()); match != nil {
			graph.edges[[2]string{match[1], match[2]}] = true
		}
	}
	if lines.Err() != nil || len(graph.nodes) == 0 {
		t.Fatalf("%s is no recorded graph: %v", name, lines.Err())
	}
	return graph
}

// called is a step as the recorded graphs have it.
func called(service string, step pipeline.StepID) string {
	return service[strings.LastIndexByte(service, '.')+1:] + "_" + step.ResourceGroup + "_" + step.Step
}

// inputs are the pipelines of the topology, by their service groups. Those that are not in the checkout are said.
func inputs(t *testing.T) (*topology.Topology, map[string]*pipeline.File) {
	t.Helper()
	if *checkout == "" {
		t.Skip("no checkout is given. hint: make oracle-pipelines ARO_TOOLS=FOLDER")
	}
	services, _, err := topology.Read(filepath.Join(*checkout, "pipelines", "graph", "testdata", "input", "topology.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*pipeline.File{}
	for _, service := range services.Services() {
		file, found, err := pipeline.Read(service.Pipeline)
		switch {
		case err != nil:
			t.Logf("not compared: %v", err)
		case file == nil:
			t.Errorf("%s: %v", service.Pipeline, found)
		default:
			files[service.ServiceGroup] = file
		}
	}
	if len(files) == 0 {
		t.Fatal("there is no pipeline to compare")
	}
	return services, files
}

// TestGraphsOfPipelines compares which steps of a pipeline there are and what each waits for.
func TestGraphsOfPipelines(t *testing.T) {
	_, files := inputs(t)
	all := read(t, "zz_fixture_TestForEntrypoint.dot")
	steps, edges := 0, 0
	for service, file := range files {
		graph := file.Graph()
		ours := recorded{map[string]bool{}, map[[2]string]bool{}}
		for i, step := range file.Steps() {
			if step.Validation {
				continue // drawn apart
			}
			ours.nodes[called(service, step.ID())] = true
			for _, before := range graph.Dependencies(i) {
				ours.edges[[2]string{called(service, file.Steps()[before].ID()), called(service, step.ID())}] = true
			}
		}
		prefix := called(service, pipeline.StepID{})
		prefix = prefix[:strings.IndexByte(prefix, '_')+1]
		for name := range all.nodes {
			if strings.HasPrefix(name, prefix) && !ours.nodes[name] {
				t.Errorf("%s: Salve has no step %s", service, name)
			}
		}
		for pair := range all.edges {
			within := strings.HasPrefix(pair[0], prefix) && strings.HasPrefix(pair[1], prefix)
			if within && !ours.edges[pair] {
				t.Errorf("%s: in Salve %s does not wait for %s", service, pair[1], pair[0])
			}
		}
		for name := range ours.nodes {
			if !all.nodes[name] {
				t.Errorf("%s: only Salve has a step %s", service, name)
			}
		}
		for pair := range ours.edges {
			if !all.edges[pair] {
				t.Errorf("%s: only in Salve %s waits for %s", service, pair[1], pair[0])
			}
		}
		steps, edges = steps+len(ours.nodes), edges+len(ours.edges)
	}
	t.Logf("%d pipelines, %d steps, %d dependencies are the same", len(files), steps, edges)
}

// TestOrderOfServiceGroups compares which service groups wait for which: where a step waits for one of another service
// group, Salve rolls that one out before.
func TestOrderOfServiceGroups(t *testing.T) {
	services, files := inputs(t)
	short := map[string]*topology.Service{}
	for _, service := range services.Services() {
		short[service.ServiceGroup[strings.LastIndexByte(service.ServiceGroup, '.')+1:]] = service
	}
	compared := map[[2]string]bool{}
	for pair := range read(t, "zz_fixture_TestForEntrypoint.dot").edges {
		before, _, _ := strings.Cut(pair[0], "_")
		after, _, _ := strings.Cut(pair[1], "_")
		one, other := short[before], short[after]
		if one == nil || other == nil || one == other {
			continue
		}
		compared[[2]string{before, after}] = true
		if other.Under(one) {
			continue
		}
		file, known := files[other.ServiceGroup]
		if !known {
			t.Logf("not compared: %s waits for %s by a pipeline that is not there", after, before)
			continue
		}
		if !slices.ContainsFunc(file.Outline().External, func(external pipeline.ExternalStep) bool {
			return external.Ref.ServiceGroup.Value == one.ServiceGroup
		}) {
			t.Errorf("in Salve %s does not wait for %s", after, before)
		}
	}
	for _, service := range services.Services() {
		if service.Parent == nil {
			continue
		}
		names := [2]string{}
		for i, group := range []string{service.Parent.ServiceGroup, service.ServiceGroup} {
			names[i] = group[strings.LastIndexByte(group, '.')+1:]
		}
		if !compared[names] {
			t.Errorf("only in Salve %s waits for %s", names[1], names[0])
		}
	}
	t.Logf("%d orders of two service groups are the same", len(compared))
}
