package cli

import (
	"context"

	"github.com/spf13/pflag"

	"salve/internal/clock"
	prowcheck "salve/internal/prow/check"
	"salve/internal/prow/drift"
	"salve/internal/prow/live"
	"salve/internal/prow/protector"
	"salve/kube"
)

// ownCluster is the alias of the cluster that Prow itself runs in.
const ownCluster = "default"

// prowLiveFlags lead to a cluster of a Prow instance, and to its GitHub.
type prowLiveFlags struct {
	kubernetesFlags
	live    bool
	cluster string
	user    string
	github  bool
	hub     githubFlags

	flags *pflag.FlagSet
}

func (p *prowLiveFlags) addFlags(flags *pflag.FlagSet) {
	p.flags = flags
	flags.BoolVar(&p.live, "live", false,
		"ask what flags lead to: GitHub by those that begin with --github (B2 to B6, open pull requests), a cluster by "+
			"--kubeconfig, --context, --cluster and --plank-user (P2, P3, B5, B8); without any, the cluster of $KUBECONFIG")
	p.kubernetesFlags.addFlags(flags, "$KUBECONFIG, or ~/.kube/config")
	flags.StringVar(&p.cluster, "cluster", ownCluster,
		"the build cluster's alias in the configuration: its jobs are looked at. "+ownCluster+
			" is the one that Prow itself runs in (B5, B8)")
	flags.StringVar(&p.user, "plank-user", "",
		"plank's `NAME` in that cluster, such as system:serviceaccount:prow:prow-controller-manager "+
			"(default: what --manifests say, for cluster default)")
	flags.BoolVar(&p.github, "github", false,
		"with --live: ask GitHub, with the token in GITHUB_TOKEN where no --github-token-file is given")
	p.hub.addFlags(flags)
}

// asksGitHub is whether flags lead to GitHub; asksCluster whether they lead to a cluster.
func (p *prowLiveFlags) asksGitHub() bool {
	return p.github || p.hub.given()
}

func (p *prowLiveFlags) asksCluster() bool {
	return p.changed("kubeconfig", "context", "cluster", "plank-user") || !p.asksGitHub()
}

func (p *prowLiveFlags) changed(names ...string) bool {
	for _, name := range names {
		if p.flags.Changed(name) {
			return true
		}
	}
	return false
}

func (p *prowLiveFlags) validate() error {
	switch {
	case p.live:
		return nil
	case p.kubeconfig != "" || p.context != "" || p.user != "":
		return usage("--kubeconfig, --context and --plank-user require --live")
	case p.asksGitHub():
		return usage("--github and the flags that begin with it require --live")
	}
	return nil
}

// ask asks what flags lead to, and adds it to the facts; nothing without --live. Changes tells whether open pull
// requests are read too.
func (p *prowLiveFlags) ask(ctx context.Context, a *app, facts prowcheck.Facts, changes bool) (prowcheck.Facts, error) {
	if !p.live {
		return facts, nil
	}
	var own *protector.Reader
	if p.asksCluster() {
		cluster, err := p.reach(a)
		if err != nil {
			return facts, err
		}
		facts.Live = p.askCluster(ctx, cluster, facts)
		if p.cluster == ownCluster && (facts.Manifests != nil || p.asksGitHub()) { // nothing else asks for it
			own = protectorReader(cluster, facts)
		}
	}
	if !p.asksGitHub() {
		if own != nil {
			facts.Protector = drift.ReadProtector(ctx, own)
		}
		return facts, nil
	}
	if err := p.hub.read(a.lookup); err != nil {
		return facts, err
	}
	client, err := p.hub.open()
	if err != nil {
		return facts, usage("%v", err)
	}
	return (&drift.Reader{GitHub: client, Clock: clock.Real{}, Changes: changes}).Observe(ctx, own, facts), nil
}

// protectorReader asks a cluster about this instance's branchprotectors. What a configuration covers is not known
// where it was not read whole.
func protectorReader(cluster *kube.Cluster, facts prowcheck.Facts) *protector.Reader {
	reader := &protector.Reader{Cluster: cluster, ProwJobs: facts.Now.Partial().ProwJobNamespace.Value}
	if whole, err := facts.Now.Config(); err == nil {
		reader.Ours = protector.ScopeOf(whole, nil)
	}
	return reader
}

func (p *prowLiveFlags) reach(a *app) (*kube.Cluster, error) {
	if err := p.orDefault(a); err != nil {
		return nil, err
	}
	return p.openCluster()
}

// askCluster asks a build cluster.
func (p *prowLiveFlags) askCluster(ctx context.Context, cluster *kube.Cluster, facts prowcheck.Facts) *prowcheck.Live {
	question := live.Question{Cluster: p.cluster, User: p.user}
	if question.User == "" && p.cluster == ownCluster && facts.Manifests != nil {
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
	return live.Ask(ctx, cluster, question)
}
