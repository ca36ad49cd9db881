package pipeline

import (
	"fmt"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/graph"
)

// Graph is what the file's steps wait for, by their index in Steps: what they
// depend on, take inputs from, and soak since; and those that validate a resource
// group, for all others of it. References to steps that there are not lead nowhere.
func (f *File) Graph() *graph.Graph {
	steps := f.Steps()
	ids := make(map[StepID]int, len(steps))
	for i, step := range steps {
		if _, ok := ids[step.ID()]; !ok {
			ids[step.ID()] = i
		}
	}
	edges := edgesOf(steps, ids, (*Step).Upstream)
	for i, step := range steps {
		if !step.Validation {
			continue
		}
		for _, other := range step.Group.Steps {
			edges = append(edges, graph.Edge{Before: ids[other.ID()], After: i})
		}
	}
	return graph.New(nodesOf(steps), edges)
}

// Undrawable are those of a list that keep a graph from being drawn as it would be run: what is no YAML, steps that
// can't be told apart or aren't there, and those that wait for each other.
func Undrawable(found diagnostic.List) diagnostic.List {
	var left diagnostic.List
	for _, one := range found {
		switch rule := one.Rule; {
		case one.Severity != diagnostic.Error:
		case strings.HasPrefix(rule, "yaml-"), rule == "duplicate-name", rule == "unknown-step", rule == "cycle",
			rule == "input-not-upstream":
			left = append(left, one)
		}
	}
	return left
}

func nodesOf(steps []*Step) []graph.Node {
	nodes := make([]graph.Node, 0, len(steps))
	for _, step := range steps {
		nodes = append(nodes, graph.Node{
			Group: step.Group.Name.Value, Name: step.Name.Value, Action: step.Action.Value, Aside: step.Validation,
		})
	}
	return nodes
}

// edgesOf are the references of steps as edges. One that names no step, which Parse
// has said, leads nowhere.
func edgesOf(steps []*Step, ids map[StepID]int, refs func(*Step) []StepRef) []graph.Edge {
	var edges []graph.Edge
	for i, step := range steps {
		for _, ref := range refs(step) {
			if before, ok := ids[ref.ID()]; ok && ref.Step.Value != "" {
				edges = append(edges, graph.Edge{Before: before, After: i})
			}
		}
	}
	return edges
}

// waitsFor are the references that say in so many words that a step comes after
// another. Inputs say so too, unless the words say otherwise.
func waitsFor(step *Step) []StepRef {
	if step.Soak != nil {
		return append(step.DependsOn[:len(step.DependsOn):len(step.DependsOn)], step.Soak.Since)
	}
	return step.DependsOn
}

// cycles finds steps that wait for each other, first by what they say that they
// wait for, then by the inputs that they take.
func (v *validator) cycles() {
	inRing, nodes := map[int]bool{}, nodesOf(v.steps)
	for _, cycle := range graph.New(nodes, edgesOf(v.steps, v.ids, waitsFor)).Cycles() {
		for _, i := range cycle {
			inRing[i] = true
		}
		first := v.steps[cycle[0]]
		ref, _ := v.refTo(waitsFor(first), cycle, 0)
		if len(cycle) == 1 {
			v.add(first, ref.At, "cycle", "remove the dependency", "it waits for itself")
			continue
		}
		v.add(first, ref.At, "cycle", "one of these dependencies must go", "these steps wait for each other: %s",
			v.path(cycle, 0))
	}
	for _, cycle := range graph.New(nodes, edgesOf(v.steps, v.ids, (*Step).Upstream)).Cycles() {
		for at, i := range cycle {
			if inRing[i] {
				break // that cycle has been said
			}
			step := v.steps[i]
			if _, said := v.refTo(waitsFor(step), cycle, at); said {
				continue
			}
			if input, ok := v.inputFrom(step, cycle, at); ok {
				v.notUpstream(step, input, cycle, at)
				break
			}
		}
	}
}

func (v *validator) notUpstream(step *Step, input Input, cycle []int, at int) {
	if len(cycle) == 1 {
		v.add(step, input.At, "input-not-upstream", "", "it takes its input %q from itself", input.Name.Value)
		return
	}
	v.add(step, input.At, "input-not-upstream", "", "it takes input %q from %s, which waits for this step: %s",
		input.Name.Value, input.ID(), v.path(cycle, (at+1)%len(cycle)))
}

// refTo finds the reference by which the step at a place of a cycle waits for the
// next one.
func (v *validator) refTo(refs []StepRef, cycle []int, at int) (StepRef, bool) {
	next := v.steps[cycle[(at+1)%len(cycle)]].ID()
	for _, ref := range refs {
		if ref.ID() == next {
			return ref, true
		}
	}
	return StepRef{}, false
}

func (v *validator) inputFrom(step *Step, cycle []int, at int) (Input, bool) {
	next := v.steps[cycle[(at+1)%len(cycle)]].ID()
	for _, input := range step.Inputs {
		if input.ID() == next {
			return input, true
		}
	}
	return Input{}, false
}

// path is a cycle as text, from one of its steps all the way round.
func (v *validator) path(cycle []int, from int) string {
	const shown = 6
	names := make([]string, 0, 2*shown)
	for at := range len(cycle) + 1 {
		switch {
		case at < shown || at > len(cycle)-shown:
			names = append(names, v.steps[cycle[(from+at)%len(cycle)]].ID().String())
		case at == shown:
			names = append(names, fmt.Sprintf("(%d more)", len(cycle)+1-2*shown))
		}
	}
	return strings.Join(names, " → ")
}
