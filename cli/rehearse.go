package cli

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"salve/azure"
	"salve/internal/azuresim"
	"salve/internal/clock"
	"salve/internal/report"
	"salve/kube"
	"salve/runbooks/recreatepool"
)

// fastest is where the machine's own time begins to weigh more than the world's.
const fastest = 10_000

// defaultSpeed makes a recovery of ten minutes last ten seconds.
const defaultSpeed = 60

// rehearsal is what a person asked of the embedded Azure.
type rehearsal struct {
	list    bool
	speed   float64
	seed    int64
	dryRun  bool
	journal string
}

func newRehearse(a *app) *cobra.Command {
	asked := &rehearsal{}
	command := &cobra.Command{
		Use:   "rehearse [SCENARIO]",
		Short: "Run a runbook on an embedded Azure, on a clock that runs faster",
		Long: `Run a runbook on an embedded Azure: the same code, an accelerated clock, no
subscription. SCENARIO is one of --list or a YAML file; the default is wedged.`,
		Args: cobra.MatchAll(func(command *cobra.Command, arguments []string) error {
			if len(arguments) > 1 {
				return usage("%s takes one scenario at most", command.CommandPath())
			}
			return nil
		}),
		RunE: func(command *cobra.Command, arguments []string) error {
			switch {
			case asked.list:
				return a.listScenarios()
			case !(asked.speed > 0 && asked.speed <= fastest):
				return usage("--speed %v: it must be above 0 and at most %v", asked.speed, fastest)
			}
			return a.rehearse(command.Context(), asked, append(arguments, "wedged")[0])
		},
	}
	flags := command.Flags()
	flags.BoolVar(&asked.list, "list", false, "name the scenarios and what each shows")
	flags.Float64Var(&asked.speed, "speed", defaultSpeed, "how many seconds pass in one")
	flags.Int64Var(&asked.seed, "seed", 0, "another seed than the scenario's, for other names and delays")
	flags.BoolVar(&asked.dryRun, "dry-run", false, "change nothing: show the guards and the plan")
	flags.StringVar(&asked.journal, "journal", "", "folder of the journal (default: a temporary folder, which is kept)")
	return command
}

func (a *app) rehearse(ctx context.Context, asked *rehearsal, name string) error {
	scenario, err := azuresim.Load(name)
	if err != nil {
		return usage("%v", err)
	}
	request, role, err := requestOf(scenario)
	if err != nil {
		return err
	}
	clk := clock.NewScaled(asked.speed)
	simulated, err := azuresim.New(scenario, azuresim.Options{Clock: clk, Seed: asked.seed})
	if err != nil {
		return usage("%v", err)
	}
	defer simulated.Close()
	world, err := embedded(simulated, request.inputs, clk)
	if err != nil {
		return err
	}
	if request.folder = asked.journal; request.folder == "" {
		if request.folder, err = os.MkdirTemp("", "salve-rehearsal-"); err != nil {
			return fmt.Errorf("making a folder for the journal: %w", err)
		}
	}
	e := newErrand(a, request, &pools{world: world, inputs: request.inputs, role: role}, act)
	e.scenario = scenario.Name
	if asked.dryRun {
		e.verb = plan
	}
	if !a.json() {
		err := report.Lead(a.stdout, a.width(), "Rehearsing "+scenario.Name, scenario.Shows, "Journal", request.folder)
		if err != nil {
			return err
		}
	}
	results, err := e.do(ctx)
	return e.answer(ctx, results, err)
}

// requestOf makes a request of a scenario's inputs, which are named as the flags,
// and the role of the pools if it names one.
func requestOf(scenario azuresim.Scenario) (asked *request, role string, err error) {
	asked = &request{shelf: shelf{inputs: recreatepool.Defaults()}}
	asked.inputs.Subscription, asked.inputs.ResourceGroup, asked.inputs.Cluster = scenario.Subscription, scenario.ResourceGroup, scenario.Cluster
	known := settings()
	for name, text := range scenario.Inputs {
		if name == "role" {
			role = text
			continue
		}
		index := slices.IndexFunc(known, func(s setting) bool { return s.flag == name })
		if index < 0 {
			return nil, "", usage("scenario %s: there is no input %q", scenario.Name, name)
		}
		if err := (value{known[index], &asked.inputs}).Set(text); err != nil {
			return nil, "", usage("scenario %s: input %s: %v", scenario.Name, name, err)
		}
	}
	return asked, role, nil
}

// embedded connects to an embedded Azure as to a real one.
func embedded(simulated *azuresim.World, in recreatepool.Inputs, clk clock.Clock) (recreatepool.World, error) {
	client, err := azure.New(azure.Options{
		Subscription: in.Subscription, Credential: simulated.Credential(), Transport: simulated.Transport(), Clock: clk,
	})
	if err != nil {
		return recreatepool.World{}, err
	}
	cluster, err := kube.ForConfig(simulated.KubernetesConfig(), clk)
	connected := func(context.Context) (*kube.Cluster, error) { return cluster, nil }
	return recreatepool.World{Azure: client, Kubernetes: connected, Clock: clk}, err
}

// listed is a scenario in a list.
type listed struct {
	Name   string `json:"name"`
	Expect string `json:"expect"`
	Shows  string `json:"shows"`
}

func (a *app) listScenarios() error {
	scenarios := []listed{}
	for _, name := range azuresim.Names() {
		scenario, err := azuresim.Load(name)
		if err != nil {
			return err
		}
		scenarios = append(scenarios, listed{scenario.Name, scenario.Expect, scenario.Shows})
	}
	if a.json() {
		return a.document(struct {
			report.Document
			Scenarios []listed `json:"scenarios"`
		}{report.NewDocument("scenarios"), scenarios})
	}
	var rows [][]string
	for _, scenario := range scenarios {
		rows = append(rows, []string{scenario.Name, scenario.Expect, scenario.Shows})
	}
	return report.Table(a.stdout, a.width(), []string{"SCENARIO", "ENDS", "SHOWS"}, rows)
}
