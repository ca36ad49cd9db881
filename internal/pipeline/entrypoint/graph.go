package entrypoint

import (
	"salve/internal/pipeline"
	"salve/internal/pipeline/graph"
	"salve/internal/pipeline/topology"
)

// Order is what service groups wait for, by their index: the graph in which they are rolled out. Files are their
// pipelines, as far as they are known. The error is a *CycleError.
func Order(services []*topology.Service, files map[string]*pipeline.File) (*graph.Graph, error) {
	index := map[string]int{}
	var nodes []graph.Node
	for i, service := range services {
		index[service.ServiceGroup] = i
		nodes = append(nodes, graph.Node{Name: service.ServiceGroup})
	}
	var edges []graph.Edge
	for i, service := range services {
		var steps []*pipeline.Step
		if file := files[service.ServiceGroup]; file != nil {
			steps = file.Steps()
		}
		for _, other := range waitsFor(service, steps) {
			if before, here := index[other]; here && before != i {
				edges = append(edges, graph.Edge{Before: before, After: i})
			}
		}
	}
	all := graph.New(nodes, edges)
	if cycles := all.Cycles(); len(cycles) > 0 {
		return nil, &CycleError{named(services, cycles[0])}
	}
	return all, nil
}

// Overview is Order for pictures: it says of each service group how many steps it has.
func Overview(topology *topology.Topology, services []*topology.Service, files map[string]*pipeline.File,
	order *graph.Graph) *graph.Graph {
	entrypoints := map[string]string{}
	for _, one := range topology.Entrypoints {
		entrypoints[one.Identifier] = "entrypoint"
		if one.Name != "" {
			entrypoints[one.Identifier] += " " + one.Name
		}
	}
	var nodes []graph.Node
	for _, service := range services {
		about := "no pipeline"
		if file := files[service.ServiceGroup]; file != nil {
			about = graph.Steps(len(file.Steps()))
		}
		if service.Stamped {
			about += ", stamped"
		}
		if entrypoint := entrypoints[service.ServiceGroup]; entrypoint != "" {
			about += ", " + entrypoint
		}
		nodes = append(nodes, graph.Node{Name: service.ServiceGroup, Action: about})
	}
	return graph.New(nodes, order.Edges())
}

// Steps is the graph of the steps of all service groups, for pictures. Between service groups it has what a rollout
// waits for: the steps with which a service group begins wait until another one is rolled out, which is a node of its
// own; and externalDependsOn, which say why.
func Steps(services []*topology.Service, files map[string]*pipeline.File, order *graph.Graph) *graph.Graph {
	s := &stepGraph{services: services, files: files, index: map[graph.Node]int{}}
	done := make([]int, len(services)) // the nodes for that a service group is rolled out
	for _, i := range order.Order() {
		var before []int
		for _, other := range order.Dependencies(i) {
			before = append(before, done[other])
		}
		file := files[services[i].ServiceGroup]
		if len(order.Leads(i)) == 0 && file != nil && len(file.Steps()) > 0 {
			s.service(services[i], before, nil) // nothing waits for it
			continue
		}
		done[i] = s.add(graph.Node{Service: services[i].ServiceGroup, Action: "rolled out", Virtual: true})
		s.service(services[i], before, []int{done[i]})
	}
	for _, service := range services {
		s.external(service)
	}
	return graph.New(s.nodes, s.edges).Keep(s.kept)
}

// stepGraph is one that is being made.
type stepGraph struct {
	services    []*topology.Service
	files       map[string]*pipeline.File
	nodes       []graph.Node
	edges, kept []graph.Edge
	// index has the nodes by what they are, without what pictures say of them.
	index map[graph.Node]int
}

func (s *stepGraph) add(node graph.Node) int {
	s.nodes = append(s.nodes, node)
	at := len(s.nodes) - 1
	s.index[graph.Node{Service: node.Service, Group: node.Group, Name: node.Name}] = at
	return at
}

func (s *stepGraph) wait(after int, before ...int) {
	for _, one := range before {
		s.edges = append(s.edges, graph.Edge{Before: one, After: after})
	}
}

// service adds the steps of a service group, between what it waits for and that it is rolled out, where that is a node.
func (s *stepGraph) service(service *topology.Service, before, done []int) {
	file := s.files[service.ServiceGroup]
	if file == nil || len(file.Steps()) == 0 {
		for _, after := range done {
			s.wait(after, before...)
		}
		return
	}
	own := file.Graph()
	first := len(s.nodes)
	for i := range own.Len() {
		node := own.Node(i)
		node.Service = service.ServiceGroup
		s.add(node)
	}
	for i := range own.Len() {
		for _, other := range own.Dependencies(i) {
			s.wait(first+i, first+other)
		}
		if len(own.Dependencies(i)) == 0 {
			s.wait(first+i, before...)
		}
		if len(own.Leads(i)) > 0 {
			continue
		}
		for _, after := range done {
			s.wait(after, first+i)
		}
	}
}

// external adds what the steps of a service group wait for in others, those that aren't drawn among them.
func (s *stepGraph) external(service *topology.Service) {
	file := s.files[service.ServiceGroup]
	if file == nil {
		return
	}
	for _, step := range file.Steps() {
		after := s.index[graph.Node{
			Service: service.ServiceGroup, Group: step.Group.Name.Value, Name: step.Name.Value,
		}]
		for _, ref := range step.ExternalDependsOn {
			if ref.ServiceGroup.Value == service.ServiceGroup {
				continue // the file's own validation says so
			}
			outside := ref.Node()
			outside.Virtual = false
			before, known := s.index[outside]
			if !known {
				before = s.add(ref.Node())
			}
			s.kept = append(s.kept, graph.Edge{Before: before, After: after})
		}
	}
}
