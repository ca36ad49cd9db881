package deploymentstack

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
	"salve/runbooks/armdeployment"
	"salve/runbooks/resourcegroup"
)

// Name is the runbook's name in journals.
const Name = "deployment-stack"

// World is what the runbook acts on.
type World struct {
	Azure *azure.Client
	Clock clock.Clock
}

// New makes the runbook for one update of a stack.
func New(world World, in Inputs, order Order) (runbook.Runbook, error) {
	if err := in.validate(order); err != nil {
		return runbook.Runbook{}, err
	}
	content, err := order.Content()
	if err != nil {
		return runbook.Runbook{}, err
	}
	return (&update{World: world, Inputs: in, order: order, content: content}).book(), nil
}

// Replayed makes the runbook for its decisions alone, as a replay makes it.
func Replayed(in Inputs, _ runbook.Target) (runbook.Runbook, error) {
	order := Order{
		Order: armdeployment.Order{Template: json.RawMessage("{}"), Budget: time.Hour}, OnUnmanage: Detach,
	}
	if err := in.validate(order); err != nil {
		return runbook.Runbook{}, err
	}
	return (&update{Inputs: in, order: order}).book(), nil
}

// update is the runbook at work.
type update struct {
	World
	Inputs
	order Order
	// content stands for the order.
	content string
	seen    runbook.Shared[sight]
}

func (u *update) book() runbook.Runbook {
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: u.Inputs, Budget: u.order.Budget,
		Target: runbook.Target{
			Kind: "deployment stack", ID: strings.ToLower(azure.StackID(u.Subscription, u.name())), Name: u.title(),
		},
		Guards:    []runbook.Guard{u.scopeThere(), u.nothingActive()},
		Steps:     []runbook.Step{u.group().Create(u.Azure, "scope-there"), u.updateStack()},
		Checks:    []runbook.Guard{u.updated()},
		Remaining: func(func(string) bool) string { return leaves },
	}
}

func (in Inputs) title() string {
	if in.ResourceGroup == "" {
		return "subscription/" + in.Stack
	}
	return in.ResourceGroup + "/" + in.Stack
}

// group is the resource group that has to be there.
func (u *update) group() resourcegroup.Wanted {
	if wanted := u.order.Group; wanted.Name != "" {
		return wanted
	}
	return resourcegroup.Wanted{Name: u.ResourceGroup}
}

// sight is what there is under the stack's name; nil is nothing.
type sight struct{ *azure.Stack }

// read returns the stack, read once in a round.
func (u *update) read(ctx context.Context, run runbook.Run) (sight, error) {
	return u.seen.Get(ctx, run, u.now)
}

func (u *update) now(ctx context.Context) (sight, error) {
	there, err := u.Azure.Stack(ctx, u.name())
	switch {
	case apierr.ClassOf(err) == apierr.Missing:
		return sight{}, nil
	case err != nil:
		return sight{}, err
	}
	there.Failure = u.order.Mask(there.Failure)
	return sight{&there}, nil
}

// stands tells whether the stack is what a run has made of it, with this content.
func (u *update) stands(there sight, run string) bool {
	return there.Stack != nil && there.Tags[runTag] == run && there.Tags[contentTag] == u.content && there.Succeeded()
}

// Stands tells whether the stack that ARM has is what a run has made of it, with this content, and has succeeded.
func Stands(ctx context.Context, world World, in Inputs, order Order, run string) (bool, error) {
	content, err := order.Content()
	if err != nil {
		return false, err
	}
	u := &update{World: world, Inputs: in, order: order, content: content}
	there, err := u.now(ctx)
	return u.stands(there, run), err
}

// Failed gives the words of ARM for what failed in a run's update; empty when it hasn't failed.
func Failed(ctx context.Context, world World, in Inputs, order Order, run string) (string, error) {
	there, err := (&update{World: world, Inputs: in, order: order}).now(ctx)
	if err != nil || there.Stack == nil || there.Tags[runTag] != run || there.Active() || there.Succeeded() {
		return "", err
	}
	return fmt.Sprintf("stack %s is %s: %s; %s", in.Stack, there.State, there.Failure, leaves), nil
}

// Result says what the stack's last update came to, with the outputs of its template.
func Result(
	ctx context.Context, world World, in Inputs,
) (said string, outputs map[string]azure.DeploymentOutput, _ error) {
	there, err := world.Azure.Stack(ctx, in.name())
	if err != nil {
		return "", nil, err
	}
	return sight{&there}.summary(), there.Outputs, nil
}

// leaves is what becomes of half an update.
const leaves = "ARM keeps what the stack has made so far, and the stack still manages it"

// The tags that tell by which run a stack was updated, and with what.
const (
	runTag     = "salve-run"
	contentTag = "salve-content"
)

func (u *update) tags(run runbook.Run) map[string]string {
	return map[string]string{runTag: run.ID(), contentTag: u.content}
}

// ours tells whether a run has made the last update.
func (s sight) ours(run runbook.Run) bool { return s.Stack != nil && s.Tags[runTag] == run.ID() }
