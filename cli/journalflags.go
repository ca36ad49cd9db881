package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/internal/permit"
	"salve/journal"
	"salve/journal/configmap"
	"salve/kube"
	"salve/runbooks/recreatepool"
)

// journalFlags are where a command finds its journal: a location, and the ways to the cluster
// in which it may be.
type journalFlags struct {
	locationFlags
	cloud  cloudFlags
	inputs recreatepool.Inputs
	// role is that of who uses them.
	role kube.Role
	// given: flags name the cluster, and not the environment alone.
	given bool
	// back are the flags that lead to the opened journal again.
	back []string
}

// addFlags are those of commands about runs.
func (s *journalFlags) addFlags(flags *pflag.FlagSet) {
	s.locationFlags.addFlags(flags, "the cluster that is named, or else "+shownFolder(), "n")
	s.inputs = recreatepool.Defaults()
	for _, named := range clusterSettings() {
		flags.Var(value{named, &s.inputs}, named.flag, named.about+", with the journal in it ("+named.variable+")")
	}
	s.cloud.addFlags(flags)
}

// clusterSettings are the three that name a cluster.
func clusterSettings() []setting { return settings()[:3] }

// read takes flags and environment together.
func (s *journalFlags) read(a *app, flags *pflag.FlagSet) error {
	if err := s.locationFlags.check(); err != nil {
		return err
	}
	a.journal, a.needs = s, kube.Need{Role: s.role, Namespace: s.namespace}
	for _, named := range clusterSettings() {
		s.given = s.given || flags.Changed(named.flag)
		if err := named.fromEnvironment(flags, &s.inputs, a.lookup); err != nil {
			return err
		}
	}
	if s.given {
		if err := missingFlags(missingCluster(s.inputs)); err != nil {
			return err
		}
	}
	return s.cloud.checkARM()
}

// destination is where a record is to be brought: a folder is made when there is none.
func (s *journalFlags) destination(command *cobra.Command, a *app) (*journal.Location, error) {
	if err := s.read(a, command.Flags()); err != nil {
		return nil, err
	}
	if s.folder != "" {
		return s.open(command.Context(), a)
	}
	return a.openJournal(command, s)
}

// named tells whether flags or environment name a cluster.
func (s *journalFlags) named() bool {
	return s.inputs.Subscription != "" && s.inputs.ResourceGroup != "" && s.inputs.Cluster != ""
}

// open gives the journal: in the folder, in the cluster of the kubeconfig, in the
// cluster that is named, or at home.
func (s *journalFlags) open(ctx context.Context, a *app) (*journal.Location, error) {
	switch {
	case s.folder != "":
		s.back = []string{"--journal", s.folder}
		return a.inFolder(s.folder)
	case s.cloud.kubeconfig != "", s.named():
		cluster, err := s.cluster(ctx, a)
		if err != nil {
			return nil, err
		}
		return s.inCluster(cluster)
	}
	return a.atHome()
}

// cluster is that of the kubeconfig, or the one that is named.
func (s *journalFlags) cluster(ctx context.Context, a *app) (*kube.Cluster, error) {
	if s.cloud.kubeconfig != "" {
		return s.cloud.openCluster()
	}
	world, err := a.connect(s.cloud, s.inputs)
	if err != nil {
		return nil, err
	}
	cluster, err := world.Kubernetes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reaching the journal in cluster %q: %w", s.inputs.Cluster, err)
	}
	return cluster, nil
}

// inCluster is the journal in a cluster.
func (s *journalFlags) inCluster(cluster *kube.Cluster) (*journal.Location, error) {
	kept, err := s.configMaps(cluster)
	if err != nil {
		return nil, err
	}
	if s.back = append(s.locationFlags.typed(), s.cloud.typed()...); s.cloud.kubeconfig == "" {
		s.back = append([]string{
			"--subscription", s.inputs.Subscription, "--resource-group", s.inputs.ResourceGroup, "--cluster", s.inputs.Cluster,
		}, s.back...)
	}
	return journal.LocationOf(kept, kept.Where()+s.cloud.kubernetesFlags.shown(cluster)), nil
}

// configMaps are the records and leases in a cluster, through a client that may write nothing else.
func (s *journalFlags) configMaps(cluster *kube.Cluster) (*configmap.Journal, error) {
	client, err := kube.JournalClient(cluster, permit.ForJournal(configmap.Namespaces(s.namespace)...))
	if err != nil {
		return nil, err
	}
	return configmap.New(configmap.Options{Client: client, Clock: cluster.Clock, Namespace: s.namespace, Lease: s.lease})
}

// withWorld adds the leases of the cluster that is named beside a folder, for commands that close a run in both.
func (s *journalFlags) withWorld(ctx context.Context, a *app, kept *journal.Location) (*journal.Location, error) {
	if s.folder == "" || s.cloud.kubeconfig == "" && !s.named() {
		return kept, nil
	}
	cluster, err := s.cluster(ctx, a)
	if err != nil {
		return nil, err
	}
	world, err := s.configMaps(cluster)
	if err != nil {
		return nil, err
	}
	both := *kept
	both.Locker = journal.Lockers{world, kept.Locker}
	return &both, nil
}
