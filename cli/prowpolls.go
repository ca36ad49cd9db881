package cli

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"salve/internal/clock"
	prowcheck "salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/drift"
	"salve/internal/prow/manifest"
	"salve/internal/prow/protector"
	"salve/kube"
)

// prowPolls are flags that let a watch ask GitHub too, every so often.
type prowPolls struct {
	github   bool
	hub      githubFlags
	every    time.Duration
	base     string
	external string

	flags *pflag.FlagSet
}

// leastPause is the least time between two polls of GitHub: an answer that did not change costs nothing of the rate
// limit, but each counts for the limit of a minute.
const leastPause = time.Minute

func (p *prowPolls) addFlags(flags *pflag.FlagSet) {
	p.flags = flags
	flags.BoolVar(&p.github, "github", false, "ask GitHub too (B2, B3, B4, B7), with the token in GITHUB_TOKEN where no "+
		"--github-token-file is given")
	p.hub.addFlags(flags)
	flags.DurationVar(&p.every, "github-every", 5*time.Minute, "the pause between two polls of GitHub")
	flags.StringVar(&p.base, "base", "", "a git `REF` that knows which jobs there were (B4)")
	flags.StringVar(&p.external, "external-checks", "",
		"`FILE` with contexts that others than Prow report, one a line; * stands for anything but a slash (B2)")
}

// given is whether flags lead to GitHub.
func (p *prowPolls) given() bool {
	for _, name := range []string{"github-token-file", "github-endpoint", "github-reserve", "github-every"} {
		if p.flags != nil && p.flags.Changed(name) {
			return true
		}
	}
	return p.github
}

func (p *prowPolls) validate() error {
	switch {
	case !p.given() && (p.base != "" || p.external != ""):
		return usage("--base and --external-checks require --github")
	case p.given() && p.every < leastPause:
		return usage("--github-every %s: it must be %s at least", p.every, leastPause)
	}
	return nil
}

// poller asks GitHub, and whether a branchprotector is at work in Prow's own cluster. It is nil where no flag leads to
// GitHub. The files are read now, and not again.
func (p *prowPolls) poller(
	ctx context.Context, a *app, files prowFiles, own *kube.Cluster, deployJobs []string,
) (*drift.Poller, error) {
	if !p.given() {
		return nil, nil
	}
	facts, err := p.facts(ctx, files, deployJobs)
	if err != nil {
		return nil, err
	}
	if err := p.hub.read(a.lookup); err != nil {
		return nil, err
	}
	client, err := p.hub.open()
	if err != nil {
		return nil, usage("%v", err)
	}
	return drift.NewPoller(drift.Options{
		GitHub: client, Clock: clock.Real{},
		Cluster: &protector.Reader{Cluster: own, ProwJobs: facts.Now.Partial().ProwJobNamespace.Value},
		Facts:   func(context.Context) (prowcheck.Facts, error) { return facts, nil },
	})
}

func (p *prowPolls) facts(ctx context.Context, files prowFiles, deployJobs []string) (prowcheck.Facts, error) {
	asked := &prowCheckRequest{prowFiles: files, base: p.base, deployJobs: deployJobs}
	tree, err := asked.open()
	if err != nil {
		return prowcheck.Facts{}, err
	}
	facts := prowcheck.Facts{Now: config.Load(tree.files, tree.names),
		Options: prowcheck.Options{DeployJobs: asked.deploying()}}
	if tree.manifests != "" {
		facts.Manifests = manifest.Read(tree.files, tree.manifests, tree.names.Root)
	}
	if p.base != "" {
		if facts.Base, err = asked.readBase(ctx); err != nil {
			return prowcheck.Facts{}, err
		}
	}
	facts.Options.External, err = readPatterns(p.external)
	return facts, err
}
