package simcli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"salve/azure"
	"salve/cli"
	"salve/internal/azuresim"
	"salve/internal/clock"
	"salve/kube"
	"salve/runbooks/recreatepool"
)

// fastest is where the machine's own time begins to count for more than the world's.
const fastest = 10_000

// defaultSpeed makes a recovery of ten minutes last ten seconds.
const defaultSpeed = 60

// rehearsal is what was asked of the embedded Azure.
type rehearsal struct {
	list    bool
	speed   float64
	seed    int64
	dryRun  bool
	journal string
}

func newRehearse() *cobra.Command {
	asked := &rehearsal{}
	command := &cobra.Command{
		Use:               "rehearse [SCENARIO]",
		ValidArgsFunction: scenarioNames,
		Short:             "Run a runbook on an embedded Azure, on an accelerated clock",
		Long: `Run a runbook on an embedded Azure: the same code, an accelerated clock, no
subscription. SCENARIO is a name from --list or a YAML file; the default is wedged.`,
		Example: `  # List the scenarios
  salve-sim rehearse --list
  # Rehearse one, and keep its journal
  salve-sim rehearse wedged --journal ./journal
  # See what a run would do in a scenario of your own
  salve-sim rehearse ./scenario.yaml --dry-run`,
		RunE: func(command *cobra.Command, arguments []string) error {
			switch {
			case len(arguments) > 1:
				return cli.Usage("%s takes one scenario at most", command.CommandPath())
			case asked.list:
				return listScenarios(cli.OutputOf(command))
			case !(asked.speed > 0 && asked.speed <= fastest):
				return cli.Usage("--speed %v: it must be above 0 and at most %v", asked.speed, fastest)
			}
			return rehearse(command, asked, append(arguments, "wedged")[0])
		},
	}
	flags := command.Flags()
	flags.BoolVar(&asked.list, "list", false, "list the scenarios, and what each shows")
	flags.Float64Var(&asked.speed, "speed", defaultSpeed, "how many times as fast as real time the clock runs")
	flags.Int64Var(&asked.seed, "seed", 0, "use this seed instead of the scenario's, for other names and delays")
	flags.BoolVar(&asked.dryRun, "dry-run", false, "change nothing: show the guards and the plan")
	flags.StringVar(&asked.journal, "journal", "", "folder of the journal (default: a temporary folder, which is kept)")
	return command
}

func rehearse(command *cobra.Command, asked *rehearsal, name string) error {
	scenario, err := load(name)
	if err != nil {
		return err
	}
	run := rehearsalOf(scenario)
	run.Journal, run.DryRun = asked.journal, asked.dryRun
	if err := run.Validate(); err != nil {
		return err
	}
	clk := clock.NewScaled(asked.speed)
	simulated, err := azuresim.New(scenario, azuresim.Options{Clock: clk, Seed: asked.seed})
	if err != nil {
		return cli.Usage("%v", err)
	}
	defer simulated.Close()
	if run.World, err = connect(simulated, scenario.Subscription, clk); err != nil {
		return err
	}
	return cli.Rehearse(command, run)
}

// load reads a scenario. One that isn't there may be misspelt.
func load(name string) (azuresim.Scenario, error) {
	scenario, err := azuresim.Load(name)
	if err == nil {
		return scenario, nil
	}
	if _, missing := os.Stat(name); errors.Is(missing, fs.ErrNotExist) {
		if near := cli.Nearest(name, azuresim.Names()); near != "" {
			return scenario, cli.Usage("no scenario %q. Did you mean %q?", name, near)
		}
	}
	return scenario, cli.Usage("%v", err)
}

func rehearsalOf(scenario azuresim.Scenario) cli.Rehearsal {
	return cli.Rehearsal{
		Scenario: scenario.Name, Shows: scenario.Shows, Inputs: scenario.Inputs,
		Overrides: scenario.Overrides, Usual: usual(scenario.Durations),
		Subscription: scenario.Subscription, ResourceGroup: scenario.ResourceGroup, Cluster: scenario.Cluster,
	}
}

// usual is how long the steps of the runbook take where ARM takes as long as a scenario says.
func usual(of azuresim.Durations) map[string]time.Duration {
	return map[string]time.Duration{
		"add-stand-in": time.Duration(of.StandIn), "delete-pool": time.Duration(of.Delete),
		"recreate": time.Duration(of.Recreate), "retire-stand-in": time.Duration(of.RemoveStandIn),
		"reconcile-cluster": time.Duration(of.Settle),
	}
}

// connect reaches an embedded Azure as a real one is reached: by the clients that every world is reached with.
func connect(simulated *azuresim.World, subscription string, clk clock.Clock) (recreatepool.World, error) {
	client, err := azure.New(azure.Options{
		Subscription: subscription, Credential: simulated.Credential(), Transport: simulated.ARM(), Clock: clk,
	})
	if err != nil {
		return recreatepool.World{}, err
	}
	cluster, err := kube.ForConfig(simulated.KubernetesConfig(), clk)
	connected := func(context.Context) (*kube.Cluster, error) { return cluster, nil }
	return recreatepool.World{Azure: client, Kubernetes: connected, Clock: clk}, err
}
