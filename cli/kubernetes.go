package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"salve/kube"
)

// kubernetesFlags lead to a cluster by the user's own kubeconfig.
type kubernetesFlags struct {
	kubeconfig, context string
	// from says where the kubeconfig was named when no flag did; empty when one did.
	from string
}

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

// orDefault finds the kubeconfig that kubectl would take, if none was named.
func (k *kubernetesFlags) orDefault(a *app) error {
	if k.kubeconfig != "" {
		return nil
	}
	if k.kubeconfig = a.lookup("KUBECONFIG"); k.kubeconfig != "" {
		k.from = "$KUBECONFIG"
		return nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return usage("kubeconfig not found: no home folder. hint: --kubeconfig FILE")
	}
	k.kubeconfig = filepath.Join(home, ".kube", "config")
	return nil
}

// fromEnvironment finds the kubeconfig that kubectl would take, if there is one.
func (k kubernetesFlags) fromEnvironment(a *app) (kubernetesFlags, bool) {
	if k.kubeconfig == "" && a.lookup("KUBECONFIG") == "" {
		home := a.lookup("HOME")
		if runtime.GOOS == "windows" {
			home = a.lookup("USERPROFILE")
		}
		file := filepath.Join(home, ".kube", "config")
		if _, err := os.Stat(file); home == "" || err != nil {
			return k, false
		}
		k.kubeconfig, k.from = file, file
		return k, true
	}
	return k, k.orDefault(a) == nil
}

// shown says which cluster it is that was reached; empty for the one that ARM led to.
func (k kubernetesFlags) shown(cluster *kube.Cluster) string {
	switch {
	case k.kubeconfig == "":
		return ""
	case k.from != "":
		return fmt.Sprintf(" at %s (%s)", cluster.Server(), k.from)
	}
	return " at " + cluster.Server()
}
