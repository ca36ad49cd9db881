package rollout

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/graph"
	"salve/runbook"
)

// Name is what records of pipelines have where others have a runbook's name, and
// version that of what this package makes of them.
const (
	Name    = "pipeline"
	version = "1"
)

// Plan is a pipeline that is ready to be run: resolved, and without mistakes.
type Plan struct {
	File  *pipeline.File
	Steps []*pipeline.Step
	// Graph has the steps' indexes.
	Graph *graph.Graph
	// Inputs are written into the record.
	Inputs Inputs
	// Content is the whole SHA-256 of which the inputs' Digest is the beginning; compared where Runner.Content is given.
	Content string
	index   map[pipeline.StepID]int
	// takers are, by the step that hands them on, the inputs that steps take.
	takers  map[pipeline.StepID][]taker
	secrets secrets
}

// taker is a step that takes an input of another one.
type taker struct {
	step  *pipeline.Step
	input pipeline.Input
}

// wanted are the names of what other steps take from a step, sorted.
func (p *Plan) wanted(step *pipeline.Step) []string {
	var names []string
	for _, taker := range p.takers[step.ID()] {
		names = append(names, taker.input.Name.Value)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Inputs are what a run was begun with: it is gone on with from the same.
type Inputs struct {
	// Pipeline and Config are the files' absolute paths.
	Pipeline string `json:"pipeline"`
	Config   string `json:"config,omitempty"`
	// Place is where Config is rendered for; nil where it is rendered already.
	Place *Place `json:"place,omitempty"`
	// PartOf is the run of the entrypoint that rolls the pipeline out with others; empty where none does.
	PartOf string `json:"partOf,omitempty"`
	// Root is the folder that steps may work in; empty is the repository's.
	Root string `json:"root,omitempty"`
	// Digest stands for the pipeline's content and the values of the configuration
	// that it uses.
	Digest       string   `json:"digest"`
	ServiceGroup string   `json:"serviceGroup"`
	Revision     string   `json:"revision,omitempty"`
	Targets      []string `json:"targets"`
	// Region is where resource groups are made that are missing; empty leaves it to the configuration.
	Region      string   `json:"region,omitempty"`
	Skip        []string `json:"skipActions,omitempty"`
	Pass        []string `json:"pass,omitempty"`
	KeepGoing   bool     `json:"keepGoing,omitempty"`
	NoBuild     bool     `json:"noBuild,omitempty"`
	Logs        string   `json:"logs"`
	Concurrency int      `json:"concurrency"`
	// Grace is the time that a step has to end when it is told to.
	Grace time.Duration `json:"grace"`
}

// Place is where a configuration is rendered for, and with what. The files are absolute paths.
type Place struct {
	Cloud       string   `json:"cloud,omitempty"`
	Environment string   `json:"environment,omitempty"`
	Region      string   `json:"region,omitempty"`
	RegionShort string   `json:"regionShort,omitempty"`
	Stamp       string   `json:"stamp,omitempty"`
	Values      string   `json:"values,omitempty"`
	Overlays    []string `json:"overlays,omitempty"`
	// SkipSchema: the configuration is not validated by its schema.
	SkipSchema bool `json:"skipSchema,omitempty"`
}

// NewPlan plans a resolved file. The inputs' ServiceGroup, Revision and Targets
// are taken from it.
func NewPlan(file *pipeline.File, inputs Inputs) (*Plan, error) {
	plan := &Plan{File: file, Steps: file.Steps(), Inputs: inputs, index: map[pipeline.StepID]int{},
		takers: map[pipeline.StepID][]taker{}, secrets: secretsOf(file)}
	for i, step := range plan.Steps {
		plan.index[step.ID()] = i
		for _, input := range step.Inputs {
			plan.takers[input.ID()] = append(plan.takers[input.ID()], taker{step, input})
		}
	}
	plan.Inputs.ServiceGroup, plan.Inputs.Revision = file.ServiceGroup.Value, file.Revision.Value
	plan.Inputs.Targets = targets(file)
	if err := plan.connect(); err != nil {
		return nil, err
	}
	return plan, nil
}

// connect takes the graph from the file, and refuses one that can't be walked.
func (p *Plan) connect() error {
	for _, step := range p.Steps {
		for _, ref := range step.Upstream() {
			if _, found := p.index[ref.ID()]; !found {
				return fmt.Errorf("step %s waits for %s, which the pipeline does not have", step.ID(), ref.ID())
			}
		}
	}
	if p.Graph = p.File.Graph(); len(p.Graph.Order()) < p.Graph.Len() {
		return fmt.Errorf("steps of the pipeline wait for each other in a ring; salve pipeline validate %s shows it",
			p.File.Path)
	}
	return nil
}

// targets name the resource groups that the pipeline changes, each as one thing
// that one runner at a time may act on. Steps that only look or wait change none.
func targets(file *pipeline.File) []string {
	var all, changed []string
	for _, group := range file.ResourceGroups {
		id := strings.ToLower(fmt.Sprintf("pipeline/%s/%s/%s", file.ServiceGroup.Value, group.Subscription.Value,
			group.ResourceGroup.Value))
		all = append(all, id)
		if slices.ContainsFunc(group.Steps, changes) {
			changed = append(changed, id)
		}
	}
	if len(changed) == 0 {
		changed = all
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}

func changes(step *pipeline.Step) bool {
	return step.Soak == nil && (step.ARM == nil || !step.ARM.OutputOnly)
}

// Waves are the names of the steps by what can run at once.
func (p *Plan) Waves() [][]string {
	var waves [][]string
	for _, wave := range p.Graph.Waves() {
		var names []string
		for _, i := range wave {
			names = append(names, p.Steps[i].ID().String())
		}
		waves = append(waves, names)
	}
	return waves
}

// Target is what the run acts on: the one resource group that it changes, or all
// of them together.
func (p *Plan) Target() runbook.Target {
	target := runbook.Target{Kind: "rollout", ID: p.Inputs.Targets[0], Name: p.Inputs.ServiceGroup}
	if len(p.Inputs.Targets) > 1 {
		sum := sha256.Sum256([]byte(strings.Join(p.Inputs.Targets, "\n")))
		target.ID = fmt.Sprintf("pipeline/%s/%s", strings.ToLower(p.Inputs.ServiceGroup), hex.EncodeToString(sum[:8]))
	}
	var names []string
	for _, id := range p.Inputs.Targets {
		names = append(names, id[strings.LastIndexByte(id, '/')+1:])
	}
	const shown = 3
	if len(names) > shown {
		names = append(names[:shown], fmt.Sprintf("%d more", len(names)-shown))
	}
	target.Name = diagnostic.Printable(target.Name + " in " + strings.Join(names, ", "))
	return target
}
