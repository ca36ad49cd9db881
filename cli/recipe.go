package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/armdeployment"
)

// recipe makes the runbooks of an errand: those of one name, on the world that
// flags lead to.
type recipe interface {
	// trial is a runbook made without looking at anything, to find what can't be
	// meant.
	trial() (runbook.Runbook, error)
	// cluster is the one in which the journal is kept.
	cluster(ctx context.Context) (*kube.Cluster, error)
	// books are to be run one after the other. Where there is none it gives the
	// ending.
	books(ctx context.Context, kept *journal.Location) ([]runbook.Runbook, []engine.Result, error)
	// again makes the runbook that a run was begun with.
	again(ctx context.Context, kept *journal.Location, header journal.Header) (runbook.Runbook, error)
	// without is the ending of an errand that came to no target.
	without(outcome runbook.Outcome, reason string) []engine.Result
	clock() clock.Clock
}

// offer is a runbook that the command line offers.
type offer interface {
	name() string
	short() string
	// addFlags are those of its inputs and of the ways to its world.
	addFlags(asked *request, flags *pflag.FlagSet)
	// read takes flags and environment together.
	read(a *app, asked *request, flags *pflag.FlagSet) error
	// recipe connects to the world; it makes no call.
	recipe(a *app, asked *request) (recipe, error)
	// resumed is the recipe that a run was begun with.
	resumed(a *app, asked *request, header journal.Header) (recipe, error)
}

// offers are new ones each time: each holds the inputs of one command.
func offers() []offer { return []offer{&poolOffer{}, operatorOffer(), strandedOffer()} }

// offerOf is the offer for an open run.
func offerOf(header journal.Header) (offer, error) {
	for _, offered := range offers() {
		if offered.name() == header.Runbook {
			return offered, nil
		}
	}
	if header.Runbook == armdeployment.Name {
		return nil, usage("run %q deploys for a step of a pipeline; the run of that pipeline goes on with it when it is resumed", header.Run)
	}
	return nil, usage("run %q is of runbook %q, which this program does not have; resume it with the program that began it", header.Run, header.Runbook)
}

// inputsOf reads the inputs that a run was begun with.
func inputsOf[Inputs any](header journal.Header) (in Inputs, err error) {
	decoder := json.NewDecoder(bytes.NewReader(header.Inputs))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return in, badInputs(header, err)
	}
	return in, nil
}

func badInputs(header journal.Header, err error) error {
	return &attention{fmt.Errorf("the inputs in the journal of run %q: %w", header.Run, err)}
}
