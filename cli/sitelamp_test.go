package cli_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/pflag"

	"salve/cli"
	"salve/runbook"
)

// lampInputs are those of the runbook of the program site, which acts on files: a lamp burns while its file is there.
type lampInputs struct {
	Subscription, ResourceGroup, Cluster string
	Lamp                                 string
	Max                                  int
}

// siteLamp hangs out a sign and then switches a lamp off, for good. There are as many lamps as the file has bytes.
func siteLamp() cli.Provider {
	definition := cli.AKSDefinition[lampInputs]{
		Cluster: func(in lampInputs) cli.AKSName {
			return cli.AKSName{Subscription: in.Subscription, ResourceGroup: in.ResourceGroup, Cluster: in.Cluster}
		},
	}
	definition.Definition = cli.Definition[cli.AKS, lampInputs]{
		Name: "lamp-off", Short: "Switch lamps off", Defaults: lampInputs{Max: 50},
		Limits: map[string]func(*lampInputs) *int{"max": func(in *lampInputs) *int { return &in.Max }},
		Flags: func(in *lampInputs, flags *pflag.FlagSet) {
			flags.StringVar(&in.Subscription, "subscription", "", "the subscription")
			flags.StringVar(&in.ResourceGroup, "resource-group", "", "the resource group")
			flags.StringVar(&in.Cluster, "cluster", "", "the cluster")
			flags.StringVar(&in.Lamp, "lamp", "lamp", "the lamp's file")
			flags.IntVar(&in.Max, "max", in.Max, "how many lamps may burn; above it nothing is done")
		},
		New: func(_ cli.AKS, in lampInputs) (runbook.Runbook, error) { return lampOff(in), nil },
	}
	return cli.OnAKS(definition)
}

// burning is what is read of the lamps.
type burning struct {
	Lamps string
	Seen  time.Time
}

func lampOff(in lampInputs) runbook.Runbook {
	read := func(context.Context, runbook.Run) (burning, error) {
		raw, err := os.ReadFile(in.Lamp)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return burning{string(raw), time.Now().UTC()}, err
	}
	guard := runbook.Ask("burns", "do no more lamps burn than may?", read, func(seen burning) runbook.Finding {
		found := runbook.Yes("%d lamps", len(seen.Lamps))
		if seen.Lamps == "" || len(seen.Lamps) > in.Max {
			found = runbook.No("%d lamps; --max is %d", len(seen.Lamps), in.Max)
		}
		return found.WithEvidence(runbook.NewEvidence("file "+in.Lamp, "", seen.Seen, seen.Lamps))
	})
	return runbook.Runbook{
		Name: "lamp-off", Version: "1", Budget: time.Minute, Inputs: in,
		Target: runbook.Target{Kind: "lamp", ID: "lamp/" + in.Lamp, Name: in.Lamp}, Guards: []runbook.Guard{guard},
		Steps: []runbook.Step{lampStep("hang-sign", "hang a sign out", "sign", true),
			lampStep("switch-off", "switch the lamps off", in.Lamp, false)},
		Checks: []runbook.Guard{runbook.Ask("dark", "is it dark?", read, func(seen burning) runbook.Finding {
			if seen.Lamps != "" {
				return runbook.No("%d lamps burn", len(seen.Lamps))
			}
			return runbook.Yes("it is dark")
		})},
	}
}

// lampStep makes a file, or removes it for good.
func lampStep(name, changes, file string, there bool) runbook.Step {
	return runbook.Step{
		Name: name, Changes: changes, Guards: []string{"burns"}, Irreversible: !there,
		Observe: func(context.Context, runbook.Run) runbook.Observation {
			if _, err := os.Stat(file); (err == nil) == there {
				return runbook.Done("it is so")
			}
			return runbook.NotStarted("it is not so")
		},
		Apply: func(ctx context.Context, _ runbook.Run) error {
			if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
				return err
			}
			if there {
				return os.WriteFile(file, nil, 0o600)
			}
			return os.Remove(file)
		},
	}
}
