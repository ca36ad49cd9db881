package cli

import (
	"context"

	"github.com/spf13/pflag"

	prowcheck "salve/internal/prow/check"
	"salve/internal/prow/live"
)

// prowLiveFlags lead to a build cluster of a Prow instance.
type prowLiveFlags struct {
	kubernetesFlags
	live    bool
	cluster string
	user    string
}

func (p *prowLiveFlags) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&p.live, "live", false, "ask a build cluster too (P2, P3)")
	p.kubernetesFlags.addFlags(flags, "$KUBECONFIG, or ~/.kube/config")
	flags.StringVar(&p.cluster, "cluster", "default",
		"the build cluster's alias in the configuration: its jobs are looked at")
	flags.StringVar(&p.user, "plank-user", "",
		"plank's `NAME` in that cluster, such as system:serviceaccount:prow:prow-controller-manager "+
			"(default: what --manifests say, for cluster default)")
}

func (p *prowLiveFlags) validate() error {
	if !p.live && (p.kubeconfig != "" || p.context != "" || p.user != "") {
		return usage("--kubeconfig, --context and --plank-user require --live")
	}
	return nil
}

// ask asks the cluster; nil without --live.
func (p *prowLiveFlags) ask(ctx context.Context, a *app, facts prowcheck.Facts) (*prowcheck.Live, error) {
	if !p.live {
		return nil, nil
	}
	if err := p.orDefault(a); err != nil {
		return nil, err
	}
	cluster, err := p.openCluster()
	if err != nil {
		return nil, err
	}
	question := live.Question{Cluster: p.cluster, User: p.user}
	if question.User == "" && p.cluster == "default" && facts.Manifests != nil {
		for _, plank := range facts.Manifests.Named("prow-controller-manager", "plank") {
			if plank.ServiceAccount != "" && plank.Namespace != "" {
				question.User = live.UserOf(plank.Namespace, plank.ServiceAccount)
			}
		}
	}
	if !facts.Now.Incomplete() {
		read := facts.Now.Partial()
		question.PodNamespace = read.PodNamespace.Value
		question.Objects = prowcheck.Wanted(read, p.cluster)
	}
	return live.Ask(ctx, cluster, question), nil
}
