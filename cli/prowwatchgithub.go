package cli

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	prowcheck "salve/internal/prow/check"
	"salve/internal/prow/drift"
	prowwatch "salve/internal/prow/watch"
	"salve/kube"
)

// prowWatchGitHub are the flags by which salve prow watch asks GitHub too.
type prowWatchGitHub struct {
	github   bool
	hub      githubFlags
	every    time.Duration
	external string
}

// minimumEvery keeps polls from using up what others need of the rate limit.
const minimumEvery = 30 * time.Second

func (g *prowWatchGitHub) addGitHubFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&g.github, "github", false,
		"poll GitHub too (B2 to B8), with the token in GITHUB_TOKEN where no --github-token-file is given")
	flags.DurationVar(&g.every, "github-every", 5*time.Minute, "how long to wait between two polls of GitHub")
	flags.StringVar(&g.external, "external-checks", "",
		"`FILE` with contexts that others than Prow report, one a line; * stands for anything but a slash (B2, B5)")
	g.hub.addFlags(flags)
}

func (g *prowWatchGitHub) asksGitHub() bool {
	return g.github || g.hub.given("github-every")
}

func (g *prowWatchGitHub) validate() error {
	switch {
	case g.every < minimumEvery:
		return usage("--github-every %s: it must be %s or more", g.every, minimumEvery)
	case g.external != "" && !g.asksGitHub():
		return usage("--external-checks requires --github")
	}
	return nil
}

// poller asks GitHub, and the cluster of the ProwJobs about branchprotector; nil without a flag that leads there. What
// the rate limit has no room for is UNKNOWN until it has: a poll doesn't wait for it.
func (g *prowWatchGitHub) poller(a *app, facts prowcheck.Facts, jobs *kube.Cluster) (prowwatch.Poller, error) {
	if !g.asksGitHub() {
		return nil, nil
	}
	if err := g.hub.read(a.lookup); err != nil {
		return nil, err
	}
	client, err := g.hub.openWaiting(0)
	if err != nil {
		return nil, usage("%v", err)
	}
	return drift.NewPoller(drift.Options{
		GitHub:  client,
		Cluster: protectorReader(jobs, facts),
		Facts:   func(context.Context) (prowcheck.Facts, error) { return facts, nil },
	})
}
