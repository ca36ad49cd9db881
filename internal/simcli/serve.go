package simcli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"salve/cli"
	"salve/internal/azuresim"
	"salve/internal/azuresim/served"
	"salve/internal/console"
	"salve/internal/report"
	"salve/runbooks/recreatepool"
)

// serving is what was asked to be served.
type serving struct {
	kubeconfig, handOut, listen, caFile string
	speed                               float64
	seed                                int64
	removeAtEnd                         bool
}

func newServe() *cobra.Command {
	asked := &serving{}
	command := &cobra.Command{
		Use:               "serve SCENARIO",
		ValidArgsFunction: scenarioNames,
		Short:             "Serve the embedded Azure over HTTPS, with your test cluster as the managed one",
		Long: `Serve the embedded Azure over HTTPS on this machine, with your test cluster as the
managed one: Node objects come and go there as machines boot and die, and kwok animates
them. Any ARM client can talk to it with any credentials, and gets the kubeconfig, so
never give it a cluster that matters. SCENARIO is a name from salve-sim rehearse --list or a
YAML file. Once it serves, it prints what to paste; SIGINT or SIGTERM ends it.`,
		Example: `  # Serve a scenario, with a test cluster as the managed one
  salve-sim serve wedged --kubeconfig test-cluster.yaml`,
		RunE: func(command *cobra.Command, arguments []string) error {
			if len(arguments) != 1 {
				return cli.Usage("%s takes one argument, a scenario; it got %d", command.CommandPath(), len(arguments))
			}
			return serve(command.Context(), cli.OutputOf(command), asked, arguments[0])
		},
	}
	flags := command.Flags()
	flags.StringVar(&asked.kubeconfig, "kubeconfig", "",
		"kubeconfig `file` of the test cluster, with all rights there")
	flags.StringVar(&asked.handOut, "hand-out", "",
		"kubeconfig `file` that clients get from ARM (default: that of --kubeconfig)")
	flags.StringVar(&asked.listen, "listen", "127.0.0.1:0", "loopback `address` to listen on")
	flags.StringVar(&asked.caFile, "ca-file", "",
		"`file` to write the certificate to, which clients must trust (default: a temporary file)")
	flags.Float64Var(&asked.speed, "speed", 1, "how many times as fast as in the scenario everything happens, at least 1")
	flags.Int64Var(&asked.seed, "seed", 0, "use this seed instead of the scenario's, for other names and delays")
	flags.BoolVar(&asked.removeAtEnd, "remove-at-end", false,
		"delete at the end what was created in the cluster (default: at the next start)")
	return command
}

func serve(parent context.Context, output cli.Output, asked *serving, name string) error {
	scenario, options, err := asked.read(name)
	if err != nil {
		return err
	}
	options.Log = slog.New(console.NewHandler(output.Log, output.Verbosity)).With("component", "sim")
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	server, err := served.Start(ctx, options)
	if err != nil {
		return err
	}
	if err := answer(output, server, scenario); err != nil {
		return errors.Join(err, server.Close(context.WithoutCancel(ctx)))
	}
	err = server.Wait(ctx)
	if closing := server.Close(context.WithoutCancel(ctx)); err == nil {
		err = closing
	}
	return err
}

// read validates what was asked.
func (s *serving) read(name string) (azuresim.Scenario, served.Options, error) {
	none := served.Options{}
	scenario, err := load(name)
	if err != nil {
		return scenario, none, err
	}
	if s.seed != 0 {
		scenario.Seed = s.seed
	}
	if scenario, err = scenario.Accelerated(s.speed); err != nil {
		return scenario, none, cli.Usage("--speed %v: %v", s.speed, err)
	}
	if err := rehearsalOf(scenario).Validate(); err != nil {
		return scenario, none, err
	}
	if err := scenario.FitsGivenCluster(); err != nil {
		return scenario, none, cli.Usage("%v", err)
	}
	if err := served.CheckAddress(s.listen); err != nil {
		return scenario, none, cli.Usage("--listen: %v", err)
	}
	if s.kubeconfig == "" {
		return scenario, none, cli.Usage("required flag --kubeconfig not set: the test cluster that becomes the managed one")
	}
	options := served.Options{Scenario: scenario, Listen: s.listen, CAFile: s.caFile, RemoveAtEnd: s.removeAtEnd}
	if options.Kubeconfig, err = served.ReadKubeconfig(s.kubeconfig); err != nil {
		return scenario, none, cli.Usage("--kubeconfig: %v", err)
	}
	if _, err := clientcmd.RESTConfigFromKubeConfig(options.Kubeconfig); err != nil {
		return scenario, none, cli.Usage("--kubeconfig %q: %v", s.kubeconfig, err)
	}
	if s.handOut != "" {
		if options.HandOut, err = served.ReadKubeconfig(s.handOut); err != nil {
			return scenario, none, cli.Usage("--hand-out: %v", err)
		}
	}
	return scenario, options, nil
}

// pointed is how to point clients at a served Azure.
type pointed struct {
	report.Document
	URL         string            `json:"url"`
	CA          string            `json:"ca"`
	Control     string            `json:"control"`
	Environment map[string]string `json:"environment"`
	Arguments   []string          `json:"arguments"`
}

// answer prints how to reach the server: lines to paste, or one line of JSON.
func answer(output cli.Output, server *served.Server, scenario azuresim.Scenario) error {
	environment := []struct{ name, value string }{ // any will do
		{"AZURE_TENANT_ID", "7e4a4700-0000-4000-8000-000000000002"},
		{"AZURE_CLIENT_ID", "c11e4700-0000-4000-8000-000000000003"},
		{"AZURE_CLIENT_SECRET", "any"},
	}
	told := pointed{
		Document: report.NewDocument("sim"), URL: server.URL(), CA: server.CAFile(), Control: server.ControlURL(),
		Environment: map[string]string{}, Arguments: argumentsFor(server, scenario),
	}
	for _, variable := range environment {
		told.Environment[variable.name] = variable.value
	}
	if output.JSON {
		return output.Line(told)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# Serving %s: %s\n# ARM and tokens: %s\n# Control:        %s\n",
		scenario.Name, scenario.Shows, told.URL, told.Control)
	for _, variable := range environment {
		fmt.Fprintf(&text, "export %s\n", cli.Quote([]string{variable.name + "=" + variable.value}))
	}
	fmt.Fprintln(&text, cli.Quote(append([]string{"salve"}, told.Arguments...)))
	_, err := fmt.Fprint(output.Answer, text.String())
	return err
}

// argumentsFor are the arguments of salve that run the runbook on the scenario's cluster.
func argumentsFor(server *served.Server, scenario azuresim.Scenario) []string {
	arguments := []string{
		"run", recreatepool.Name, "--subscription", scenario.Subscription, "--resource-group", scenario.ResourceGroup,
		"--cluster", scenario.Cluster,
	}
	for _, name := range slices.Sorted(maps.Keys(scenario.Inputs)) {
		arguments = append(arguments, "--"+name, scenario.Inputs[name])
	}
	for _, guard := range slices.Sorted(maps.Keys(scenario.Overrides)) {
		arguments = append(arguments, "--override", guard+"="+scenario.Overrides[guard])
	}
	return append(arguments, "--arm-endpoint", server.URL(), "--authority-host", server.URL(), "--arm-ca", server.CAFile())
}
