package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/report"
	"salve/runbooks/recreatepool"
)

// Rehearsal is a run of aks-recreate-pool on a world that ends with the process.
type Rehearsal struct {
	// Scenario names what the world is, Shows says what happens there.
	Scenario, Shows string
	World           recreatepool.World
	// Subscription, ResourceGroup and Cluster are where the cluster is in that world.
	Subscription, ResourceGroup, Cluster string
	// Inputs are named as the runbook's flags.
	Inputs map[string]string
	// Overrides are guards to go on past, each with the reason.
	Overrides map[string]string
	// Journal is a folder; empty is a new temporary one, which is kept.
	Journal string
	// Usual is how long steps take there, by their names; nothing is decided by it.
	Usual map[string]time.Duration
	// DryRun only shows the guards and the plan.
	DryRun bool
}

// Rehearse runs a rehearsal as a command of Main.
func Rehearse(command *cobra.Command, asked Rehearsal) error {
	return appOf(command).rehearse(command.Context(), asked)
}

// Validate refuses inputs that the runbook doesn't have, or values that they can't have.
func (r Rehearsal) Validate() error {
	_, _, err := r.request()
	return err
}

func (a *app) rehearse(ctx context.Context, asked Rehearsal) error {
	request, role, err := asked.request()
	if err != nil {
		return err
	}
	if request.folder = asked.Journal; request.folder == "" {
		if request.folder, err = os.MkdirTemp("", "salve-rehearsal-"); err != nil {
			return fmt.Errorf("making a folder for the journal: %w", err)
		}
	}
	inputs := poolInputs{Inputs: request.inputs, Role: role}
	definition := &aksEntry[poolInputs]{AKSDefinition: poolDefinition(), inputs: inputs}
	e := newInvocation(a, request, &aksFactory[poolInputs]{entry: definition, world: AKS(asked.World)}, act)
	e.scenario, e.usual = asked.Scenario, asked.Usual
	a.journal = nil // its world ends with it: a hint that is pasted would act on another one
	if asked.DryRun {
		e.verb = plan
	}
	if !a.json() {
		err := report.Lead(a.stdout, a.width(), "Rehearsing "+asked.Scenario, asked.Shows, "Journal", request.folder)
		if err != nil {
			return err
		}
	}
	results, err := e.run(ctx)
	return e.answer(ctx, results, err)
}

// request is the request that the inputs make, and the role of the pools if they name one.
func (r Rehearsal) request() (asked *request, role string, err error) {
	asked = &request{journalFlags: journalFlags{inputs: recreatepool.Defaults()}, overrides: r.Overrides}
	in := &asked.inputs
	in.Subscription, in.ResourceGroup, in.Cluster = r.Subscription, r.ResourceGroup, r.Cluster
	known := settings()
	for name, text := range r.Inputs {
		if name == "role" {
			role = text
			continue
		}
		index := slices.IndexFunc(known, func(s setting) bool { return s.flag == name })
		if index < 0 {
			return nil, "", usage("scenario %s: unknown input %q", r.Scenario, name)
		}
		if err := (value{known[index], &asked.inputs}).Set(text); err != nil {
			return nil, "", usage("scenario %s: input %s: %v", r.Scenario, name, err)
		}
	}
	return asked, role, nil
}
