package graph

import (
	"fmt"
	"strings"
	"time"
)

// Picture is a graph and what is to be told of it.
type Picture struct {
	Title string
	Graph *Graph
	// Took is how long each node takes; nil where nobody knows. 0 is not known of
	// that node.
	Took []time.Duration
	// Measure says what Took is, such as "by recorded durations".
	Measure string
	// Services: the nodes are service groups, and no steps.
	Services bool
}

// nodes is a number of nodes in words.
func (p Picture) nodes(list []int) string {
	count := p.Graph.count(list)
	switch {
	case !p.Services:
		return Steps(count)
	case count == 1:
		return "1 service group"
	}
	return fmt.Sprintf("%d service groups", count)
}

// critical is the longest path, and whether each edge and node is on it.
type critical struct {
	path  []int
	nodes map[int]bool
	edges map[Edge]bool
}

func (p Picture) critical() critical {
	took := p.Took
	if took == nil {
		took = make([]time.Duration, p.Graph.Len())
	}
	c := critical{path: p.Graph.Critical(took), nodes: map[int]bool{}, edges: map[Edge]bool{}}
	for at, i := range c.path {
		c.nodes[i] = true
		if at > 0 {
			c.edges[Edge{c.path[at-1], i}] = true
		}
	}
	return c
}

// says is one sentence on the critical path.
func (p Picture) says(c critical) string {
	total := ""
	if p.Took != nil {
		sum := time.Duration(0)
		for _, i := range c.path {
			sum += p.Took[i]
		}
		total = ", " + Brief(sum)
	}
	all := make([]int, p.Graph.Len())
	for i := range all {
		all[i] = i
	}
	return fmt.Sprintf("%s; critical path %s: %s%s", p.nodes(all), p.Measure, p.nodes(c.path), total)
}

// Steps is a number of steps in words.
func Steps(count int) string {
	if count == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", count)
}

// about is what a picture says below a node's name.
func (p Picture) about(i int) string {
	about := p.Graph.nodes[i].Action
	if took := p.took(i); took != "" {
		about += " " + took
	}
	return about
}

// label is a node's name and what a picture says below it.
func (p Picture) label(i int, between string) string {
	return strings.Trim(p.Graph.nodes[i].Name+between+p.about(i), between)
}

func (p Picture) took(i int) string {
	if p.Took == nil || p.Took[i] == 0 {
		return ""
	}
	return Brief(p.Took[i])
}

// Brief is a length of time without the zeros that Go puts behind it, and without
// fractions of a second where there are whole ones.
func Brief(length time.Duration) string {
	if 0 < length && length < time.Second {
		return max(length.Round(time.Millisecond), time.Millisecond).String()
	}
	text := length.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// cluster is a group of nodes, and of clusters, by their name.
type cluster struct {
	name  string
	nodes []int
	below []*cluster
}

// clusters are those of the service groups, with their resource groups in them, in the order of their first nodes. The
// resource groups of nodes without a service group are beside them. What is in none is in the first one, which has no
// name; it comes first.
func (g *Graph) clusters() *cluster {
	root := &cluster{}
	within := func(parent *cluster, name string) *cluster {
		if name == "" {
			return parent
		}
		for _, one := range parent.below {
			if one.name == name {
				return one
			}
		}
		made := &cluster{name: name}
		parent.below = append(parent.below, made)
		return made
	}
	for i, node := range g.nodes {
		service := within(root, node.Service)
		in := within(service, node.Group)
		in.nodes = append(in.nodes, i)
	}
	return root
}
