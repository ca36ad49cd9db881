package entrypoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/graph"
	"salve/internal/pipeline/rollout"
	"salve/internal/pipeline/topology"
	"salve/journal"
	"salve/runbook"
)

// Name is what records of entrypoints have where others have a runbook's name, and version that of what this package
// makes of them.
const (
	Name    = "entrypoint"
	version = "1"
)

// Group is a service group and the rollout of its pipeline.
type Group struct {
	Name string
	Plan *rollout.Plan
	// After are the service groups that are rolled out before it.
	After []string
}

// Plan is an entrypoint that is ready to be run. Each of its service groups comes after those that it waits for.
type Plan struct {
	Groups []Group
	// Graph has the groups' indexes.
	Graph *graph.Graph
	// Inputs are written into the record.
	Inputs Inputs
}

// Inputs are what a run was begun with: it is gone on with from the same.
type Inputs struct {
	// Topology are the files' absolute paths.
	Topology []string `json:"topology"`
	// Entrypoint is the service group that it begins with.
	Entrypoint string        `json:"entrypoint"`
	Config     string        `json:"config,omitempty"`
	Place      rollout.Place `json:"place"`
	Root       string        `json:"root,omitempty"`
	// Digest stands for the service groups, their order, and the content of their pipelines.
	Digest string `json:"digest"`
	// ServiceGroups are those that are rolled out, and Targets what their rollouts act on.
	ServiceGroups []string `json:"serviceGroups"`
	Targets       []string `json:"targets"`
	Skip          []string `json:"skipActions,omitempty"`
	Pass          []string `json:"pass,omitempty"`
	// KeepGoing is that of the pipelines: after a step has failed, those of its pipeline that do not depend on it begin.
	KeepGoing bool `json:"keepGoing,omitempty"`
	// FailFast: after a service group has failed, no other begins.
	FailFast bool   `json:"failFast,omitempty"`
	NoBuild  bool   `json:"noBuild,omitempty"`
	Logs     string `json:"logs"`
	// Concurrency bounds the steps of all pipelines together.
	Concurrency int           `json:"concurrency"`
	Grace       time.Duration `json:"grace"`
}

// NewPlan plans the rollout of a service group and all below it. The plans are those of their pipelines. The inputs'
// Entrypoint, ServiceGroups, Targets and Digest are taken from them.
func NewPlan(first *topology.Service, plans map[string]*rollout.Plan, inputs Inputs) (*Plan, error) {
	p := &Plan{Inputs: inputs}
	services := first.Below()
	files := map[string]*pipeline.File{}
	for _, service := range services {
		plan := plans[service.ServiceGroup]
		if plan == nil {
			return nil, fmt.Errorf("service group %s has no pipeline", service.ServiceGroup)
		}
		files[service.ServiceGroup] = plan.File
	}
	all, err := Order(services, files)
	if err != nil {
		return nil, err
	}
	p.take(services, plans, all)
	return p, nil
}

// waitsFor are the service groups that have to be rolled out before one: its parent, and those of which its steps wait
// for a step.
func waitsFor(service *topology.Service, steps []*pipeline.Step) []string {
	var names []string
	if service.Parent != nil {
		names = append(names, service.Parent.ServiceGroup)
	}
	for _, step := range steps {
		for _, other := range step.ExternalDependsOn {
			names = append(names, other.ServiceGroup.Value)
		}
	}
	return names
}

// CycleError says that service groups wait for each other.
type CycleError struct{ ServiceGroups []string }

func (e *CycleError) Error() string {
	return fmt.Sprintf("service groups wait for each other: %s. Each is rolled out as a whole: one of these "+
		"externalDependsOn must go", strings.Join(append(slices.Clone(e.ServiceGroups), e.ServiceGroups[0]), " → "))
}

func named(services []*topology.Service, indexes []int) []string {
	var names []string
	for _, i := range indexes {
		names = append(names, services[i].ServiceGroup)
	}
	return names
}

// take keeps the groups in an order in which they can be rolled out.
func (p *Plan) take(services []*topology.Service, plans map[string]*rollout.Plan, all *graph.Graph) {
	order := all.Order()
	place := make([]int, len(order))
	for at, i := range order {
		place[i] = at
	}
	var nodes []graph.Node
	var edges []graph.Edge
	p.Inputs.Entrypoint, p.Inputs.ServiceGroups, p.Inputs.Targets = services[0].ServiceGroup, nil, nil
	for at, i := range order {
		name := services[i].ServiceGroup
		group := Group{Name: name, Plan: plans[name], After: named(services, all.Dependencies(i))}
		for _, before := range all.Dependencies(i) {
			edges = append(edges, graph.Edge{Before: place[before], After: at})
		}
		nodes = append(nodes, graph.Node{Group: services[0].ServiceGroup, Name: name})
		p.Groups = append(p.Groups, group)
		p.Inputs.ServiceGroups = append(p.Inputs.ServiceGroups, name)
		p.Inputs.Targets = append(p.Inputs.Targets, group.Plan.Target().ID)
	}
	p.Graph = graph.New(nodes, edges)
	p.Inputs.Digest = p.digest()
}

// digest stands for what is rolled out, and in which order.
func (p *Plan) digest() string {
	sum := sha256.New()
	for _, group := range p.Groups {
		fmt.Fprintf(sum, "%q after %q: %s on %q\n", group.Name, group.After, group.Plan.Inputs.Digest, group.Plan.Target().ID)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Target is the entrypoint in a region. Two that roll out to other resource groups, as in another environment, are two
// targets.
func (p *Plan) Target() runbook.Target {
	targets := slices.Clone(p.Inputs.Targets)
	slices.Sort(targets)
	sum := sha256.Sum256([]byte(strings.Join(targets, "\n")))
	name := p.Inputs.Entrypoint
	id := strings.ToLower(name)
	if region := p.Inputs.Place.Region; region != "" {
		name, id = name+" in "+region, id+"/"+strings.ToLower(region)
	}
	return runbook.Target{
		Kind: "entrypoint", ID: fmt.Sprintf("entrypoint/%s/%s", id, hex.EncodeToString(sum[:8])),
		Name: diagnostic.Printable(name),
	}
}

// Waves are the names of the service groups by what can be rolled out at once.
func (p *Plan) Waves() [][]string {
	var waves [][]string
	for _, wave := range p.Graph.Waves() {
		var names []string
		for _, i := range wave {
			names = append(names, p.Groups[i].Name)
		}
		waves = append(waves, names)
	}
	return waves
}

// InputsOf reads what a run of an entrypoint was begun with.
func InputsOf(header journal.Header) (Inputs, error) {
	var inputs Inputs
	if header.Runbook != Name {
		return inputs, fmt.Errorf("run %q is of runbook %q, and of no entrypoint", header.Run, header.Runbook)
	}
	if err := json.Unmarshal(header.Inputs, &inputs); err != nil {
		return inputs, fmt.Errorf("the inputs in the journal of run %q: %w", header.Run, err)
	}
	return inputs, nil
}

// same gives nil when a run was started from the plan's content and configuration.
func (p *Plan) same(open journal.Header) error {
	inputs, err := InputsOf(open)
	if err == nil && inputs.Digest != p.Inputs.Digest {
		err = invalid("run %s was started with another content of the pipelines of %s, or of their configuration; bring "+
			"that back, or start a new run with salve pipeline run, which closes this one", open.Run, p.Inputs.Entrypoint)
	}
	return err
}
