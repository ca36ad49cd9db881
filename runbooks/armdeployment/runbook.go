package armdeployment

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/runbook"
)

// Name is the runbook's name in journals.
const Name = "arm-deployment"

// World is what the runbook acts on.
type World struct {
	Azure *azure.Client
	Clock clock.Clock
}

// New makes the runbook for one deployment.
func New(world World, in Inputs, order Order) (runbook.Runbook, error) {
	if err := in.validate(order); err != nil {
		return runbook.Runbook{}, err
	}
	content, err := order.Content()
	if err != nil {
		return runbook.Runbook{}, err
	}
	d := &deployment{World: world, Inputs: in, order: order, content: content}
	return d.book(), nil
}

// Replayed makes the runbook for its decisions alone, as a replay makes it: guards decide from recorded readings, and
// nothing is read. What was deployed is not in the record, and no decision takes it.
func Replayed(in Inputs, _ runbook.Target) (runbook.Runbook, error) {
	order := Order{Template: json.RawMessage("{}"), Budget: time.Hour}
	if err := in.validate(order); err != nil {
		return runbook.Runbook{}, err
	}
	return (&deployment{Inputs: in, order: order}).book(), nil
}

func (d *deployment) book() runbook.Runbook {
	in := d.Inputs
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: in, Budget: d.order.Budget,
		Target: runbook.Target{
			Kind: "ARM deployment", ID: strings.ToLower(azure.DeploymentID(in.Subscription, in.name())), Name: in.title(),
		},
		Guards:    []runbook.Guard{d.scopeThere(), d.nothingActive()},
		Steps:     []runbook.Step{d.group().Create(d.Azure, "scope-there"), d.deploy()},
		Checks:    []runbook.Guard{d.deployed()},
		Remaining: func(func(string) bool) string { return leaves },
	}
}

func (in Inputs) title() string {
	if in.ResourceGroup == "" {
		return "subscription/" + in.Deployment
	}
	return in.ResourceGroup + "/" + in.Deployment
}

// deployment is the runbook at work.
type deployment struct {
	World
	Inputs
	order Order
	// content stands for the order.
	content string
	seen    runbook.Shared[sight]
}

// succeeded is ARM's word for a deployment that has made all of it.
const succeeded = "Succeeded"

// sight is what there is under the deployment's name; nil is nothing.
type sight struct{ *azure.Deployment }

// read returns the deployment, read once in a round.
func (d *deployment) read(ctx context.Context, run runbook.Run) (sight, error) {
	return d.seen.Get(ctx, run, d.now)
}

func (d *deployment) now(ctx context.Context) (sight, error) {
	there, err := d.Azure.Deployment(ctx, d.name())
	switch {
	case err != nil && apierr.ClassOf(err) == apierr.Missing:
		return sight{}, nil
	case err != nil:
		return sight{}, err
	}
	there.Failure = d.order.Mask(there.Failure)
	return sight{&there}, nil
}

// Stands tells whether the deployment that ARM has is the one that a run has made,
// with this content, and has succeeded.
func Stands(ctx context.Context, world World, in Inputs, order Order, run string) (bool, error) {
	content, err := order.Content()
	if err != nil {
		return false, err
	}
	d := &deployment{World: world, Inputs: in, order: order, content: content}
	there, err := d.now(ctx)
	if err != nil || there.Deployment == nil {
		return false, err
	}
	return there.Tags[runTag] == run && there.Tags[contentTag] == content && there.State == succeeded, nil
}

// Failed gives the words of ARM for what failed in a run's deployment; empty when it
// hasn't failed.
func Failed(ctx context.Context, world World, in Inputs, order Order, run string) (string, error) {
	d := &deployment{World: world, Inputs: in, order: order}
	there, err := d.now(ctx)
	if err != nil || there.Deployment == nil || there.Tags[runTag] != run || there.Active() || there.State == succeeded {
		return "", err
	}
	return fmt.Sprintf("deployment %s is %s: %s; %s", in.Deployment, there.State, there.Failure, leaves), nil
}

// leaves is what becomes of half a deployment.
const leaves = "ARM keeps what the deployment has made so far"

// The tags that tell by which run a deployment was started, and with what.
const (
	runTag     = "salve-run"
	contentTag = "salve-content"
)

func (d *deployment) tags(run runbook.Run) map[string]string {
	return map[string]string{runTag: run.ID(), contentTag: d.content}
}

// ours tells whether a run has started the deployment that is there.
func (s sight) ours(run runbook.Run) bool { return s.Deployment != nil && s.Tags[runTag] == run.ID() }
