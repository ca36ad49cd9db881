package cli

import (
	"context"

	"github.com/spf13/pflag"

	"salve/azure"
	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// Provider offers a runbook to every command: it is asked for by flags, run, planned,
// checked, resumed, and a step of pipelines. It is made by OnCluster or OnAKS.
type Provider interface {
	// entry is a new one for each command: it holds that command's inputs.
	entry() entry
}

// Definition says how a runbook is asked for and made. Inputs are what the flags give:
// they are journaled as JSON, and a resumed run is made from them again, so that a
// field which the record does not know is refused. They hold no secret.
type Definition[World, Inputs any] struct {
	// Name is that of the runbook which New makes: lower-case letters, digits and
	// hyphens. Required.
	Name string
	// Short is one line of help; Long is the whole, and may be empty.
	Short, Long string
	// Example is flags that name a target, for the examples of help; it may be empty.
	Example string
	// Defaults are the inputs before any flag.
	Defaults Inputs
	// Limits are the inputs that bound what a run may do, by the names of their flags: who
	// approves the run's plan may lower them. May be nil.
	Limits map[string]func(in *Inputs) *int
	// Flags makes a flag of each input, with its field's value as the default. May be nil.
	Flags func(in *Inputs, flags *pflag.FlagSet)
	// Missing are the flags that the inputs still require, all of them. May be nil.
	Missing func(in Inputs) []Flag
	// New makes the runbook, or refuses the inputs. It makes no call: it is also asked
	// to find what is invalid, before the world has been identified. Required.
	New func(world World, in Inputs) (runbook.Runbook, error)
	// Replayed makes the runbook for its decisions alone, which salve replay makes again from a record: it looks at no
	// world, no file and no clock. Nil means New with the zero World, for a New that asks it nothing.
	Replayed func(in Inputs, target runbook.Target) (runbook.Runbook, error)
	// Watch is what check --watch does until it is cancelled: it says a line for each
	// change. No is the alarm; Unknown says that nothing can be seen. May be nil.
	Watch func(ctx context.Context, world World, in Inputs, say func(line string)) runbook.Finding
}

// Cluster is a Kubernetes cluster that a kubeconfig leads to.
type Cluster struct {
	*kube.Cluster
	// ID tells the cluster from all others: it begins the IDs of targets. It is empty
	// while the inputs are validated.
	ID string
	// User is who runs the command, as $USER says; empty when that says nothing. It proves nothing.
	User string
}

// AKS is an AKS cluster that ARM leads to.
type AKS struct {
	Azure *azure.Client
	// Kubernetes connects to the cluster's API when it is first called.
	Kubernetes func(context.Context) (*kube.Cluster, error)
	Clock      clock.Clock
	// OpenRun names the run that the lease of a target says is open, wherever its record
	// is; empty when none is.
	OpenRun func(ctx context.Context, target string) (string, error)
}

// AKSName names an AKS cluster.
type AKSName struct{ Subscription, ResourceGroup, Cluster string }

// AKSDefinition is a Definition for an AKS cluster.
type AKSDefinition[Inputs any] struct {
	Definition[AKS, Inputs]
	// Cluster tells the cluster from the inputs, those of a record too. Required.
	Cluster func(in Inputs) AKSName
	// Complete takes what no flag gave from the environment, and refuses what is
	// missing. May be nil.
	Complete func(in *Inputs, flags *pflag.FlagSet, lookup func(variable string) string) error
	// Confirm finds inputs that the world shows to be wrong usage, such as the misspelt name of a pool, before a run
	// begins. It gives no error where nothing can be seen: that is for the guards to say. May be nil.
	Confirm func(ctx context.Context, world AKS, in Inputs) error
	// Select makes several runs of one command: it gives the inputs of each, or says by
	// a finding that does not hold or is unknown why there are none. Open reads the
	// inputs of the runbook's open runs. Nil makes one run.
	Select func(ctx context.Context, world AKS, in Inputs, open func() ([]Inputs, error)) ([]Inputs, runbook.Finding)
}

// OnCluster offers a runbook for any cluster. --kubeconfig and --context lead there.
func OnCluster[Inputs any](definition Definition[Cluster, Inputs]) Provider {
	return clusterProvider[Inputs]{definition}
}

// OnAKS offers a runbook for an AKS cluster. Besides its own flags it has those that
// lead to ARM.
func OnAKS[Inputs any](definition AKSDefinition[Inputs]) Provider {
	return aksProvider[Inputs]{definition}
}

// BuiltIn are Salve's own runbooks.
func BuiltIn() []Provider {
	return []Provider{
		recreatePool(), removeOperator(), rescuePods(), repairProtection(), undoProtection(), unblockPulls(),
	}
}
