package pipeline

import (
	"slices"

	"salve/internal/pipeline/graph"
)

// Drawn is Graph for pictures: after the file's own steps it has those of other service groups that they wait for.
func (f *File) Drawn() *graph.Graph {
	own := f.Graph()
	nodes := nodesOf(f.Steps())
	edges := own.Edges()
	var kept []graph.Edge
	for i, step := range f.Steps() {
		for _, ref := range step.ExternalDependsOn {
			outside := ref.Node()
			at := slices.Index(nodes, outside)
			if at < 0 {
				at, nodes = len(nodes), append(nodes, outside)
			}
			kept = append(kept, graph.Edge{Before: at, After: i})
		}
	}
	return graph.New(nodes, edges).Keep(kept)
}

// Node is the step of another service group as pictures show it.
func (r ExternalRef) Node() graph.Node {
	return graph.Node{
		Service: r.ServiceGroup.Value, Group: r.ResourceGroup.Value, Name: r.Step.Value, Virtual: true,
	}
}
