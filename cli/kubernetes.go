package cli

import (
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"salve/kube"
)

// kubernetesFlags lead to a cluster by the user's own kubeconfig.
type kubernetesFlags struct{ kubeconfig, context string }

func (k *kubernetesFlags) addFlags(flags *pflag.FlagSet, otherwise string) {
	flags.StringVar(&k.kubeconfig, "kubeconfig", "", "`file` that leads to the cluster's API (default: "+otherwise+")")
	flags.StringVar(&k.context, "context", "", "`name` of a context in --kubeconfig (default: its current one)")
}

func (k *kubernetesFlags) openCluster() (*kube.Cluster, error) {
	cluster, err := kube.Open(k.kubeconfig, k.context, clock.RealClock{})
	if err != nil {
		return nil, usage("--kubeconfig: %v", err)
	}
	return cluster, nil
}
