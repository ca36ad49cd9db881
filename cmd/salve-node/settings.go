//go:build linux

package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"salve/internal/hotfix/fetch"
	"salve/internal/hotfix/liveconfig"
)

// The defaults. The paths are those of AKS's images.
const (
	defaultBaked   = "/opt/azure/containers/aks-node-controller"
	defaultStaged  = "/opt/azure/containers/aks-node-controller-hotfix"
	defaultPointer = "/opt/azure/containers/aks-node-controller-hotfix.json"
	defaultState   = "/var/lib/salve-node"
	defaultSigned  = "/opt/azure/containers/aks-node-controller-hotfix.signed.json"
	defaultTrust   = "/etc/salve-node/root.json"
	defaultBudget  = time.Minute
	defaultTrials  = 1
	// defaultDeadline is AKS's own time for provisioning, by its scripts' «timeout -k5s 15m»:
	// https://github.com/Azure/AgentBaker/blob/dev/parts/linux/cloud-init/artifacts/cse_start.sh
	defaultDeadline = 15 * time.Minute
)

// settings are what flags and variables say.
type settings struct {
	pointer, baked, staged, state string
	trustRoot, signedPointer      string
	current, nodeID               string
	budget, deadline              time.Duration
	trials                        int
	wrapped, onlyRecover          bool
	strict, check                 bool
	root                          string
	allow                         []string
	last                          int
	output, prometheus            string
	fetch                         fetch.Settings
	live                          liveconfig.Settings
}

func (s *settings) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("salve-node", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&s.pointer, "pointer", defaultPointer, "the pointer file")
	flags.StringVar(&s.trustRoot, "trust-root", defaultTrust,
		"the root of trust; where it is there, the signed pointer alone is followed")
	flags.StringVar(&s.signedPointer, "signed-pointer", defaultSigned, "the signed pointer")
	flags.StringVar(&s.baked, "baked", defaultBaked, "the program that is part of the image")
	flags.StringVar(&s.staged, "staged", defaultStaged,
		"where the hotfix of it is put; its manifest, lock and marks lie beside it")
	flags.StringVar(&s.state, "state", defaultState, "folder for events, and for the records of scripts and of trust")
	flags.StringVar(&s.current, "current", "", "version of the baked program; by default it is asked")
	flags.StringVar(&s.nodeID, "node-id", "",
		"what this node is drawn by for canaries (default the UUID of the machine, from its firmware)")
	flags.DurationVar(&s.budget, "budget", defaultBudget, "how long all that comes before the program may take")
	flags.IntVar(&s.trials, "trials", defaultTrials,
		"launch: how often a hotfix is started that has not been confirmed; 1 at least")
	flags.DurationVar(&s.deadline, "deadline", defaultDeadline, "launch: how long a hotfix may run")
	flags.BoolVar(&s.check, "check", false, "launch: read the pointer from the live service first")
	flags.BoolVar(&s.strict, "strict", false, "fetch, check: exit 1 when what was wanted did not happen")
	flags.StringVar(&s.root, "root", "/", "scripts: the folder that their paths are below")
	flags.StringSliceVar(&s.allow, "allow", []string{"/opt/azure", "/etc/systemd/system", "/usr/local/bin"},
		"scripts: the folders that they may go to")
	flags.StringVar(&s.fetch.Package, "package", "aks-node-controller", "package of the program")
	flags.StringVar(&s.fetch.Program, "program", "",
		"the program's path in its package (default /usr/bin/ and the package)")
	flags.StringVar(&s.fetch.ScriptsPackage, "scripts-package", "",
		"package of the scripts (default the package and -scripts)")
	flags.StringVar(&s.fetch.Source, "source", "",
		"the one source that is asked: a file of apt's, or the ID of a repository (default Microsoft's)")
	flags.StringVar(&s.fetch.OSRelease, "os-release", "/etc/os-release", "the file that names the operating system")
	flags.StringVar(&s.live.Configuration, "configuration", "", "check: the node's configuration (default AKS's)")
	flags.StringVar(&s.live.Command, "nbc-cmd", "",
		"check: the command that provisions the node, read where the configuration has no API server (default AKS's)")
	flags.StringVar(&s.live.Server, "api-server", "", "check: the API server, instead of the configuration's")
	flags.StringVar(&s.live.Authority, "authority", "",
		"check: file of the authority's certificates, instead of the configuration's")
	flags.StringVar(&s.live.ServerName, "server-name", "",
		"check: the name in the service's certificate (default Microsoft's)")
	flags.StringVar(&s.live.Component, "component", "",
		"check: the component that is asked about (default aksNodeController)")
	flags.StringVar(&s.live.Metadata, "metadata", "", "check: address of the attested document (default Azure's)")
	flags.BoolVar(&s.wrapped, "wrapped", false, "launch: the shell that started this runs the baked program")
	flags.BoolVar(&s.onlyRecover, "recover", false, "prepare: settle an unfinished change of scripts, no more")
	flags.StringVar(&s.prometheus, "prometheus", "",
		"launch, status: the file, *.prom, that metrics are written to for node_exporter; status: - prints them")
	flags.IntVar(&s.last, "last", 10, "status: how many events are shown")
	flags.StringVar(&s.output, "output", "table", "status: table or json")
	return flags
}

// correct replaces values that would keep a node from what it boots for. No time at all
// is not a time.
func (s *settings) correct() (warnings []string) {
	if s.budget <= 0 {
		warnings = append(warnings, fmt.Sprintf("--budget %s: it keeps its default", s.budget))
		s.budget = defaultBudget
	}
	if s.deadline <= 0 {
		warnings = append(warnings, fmt.Sprintf("--deadline %s: it keeps its default", s.deadline))
		s.deadline = defaultDeadline
	}
	return warnings
}
