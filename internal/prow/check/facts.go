package check

import (
	"time"

	"salve/internal/prow/config"
	"salve/internal/prow/manifest"
)

// Facts are all that rules are asked over. What is nil was not given.
type Facts struct {
	// Now is the configuration as it would be.
	Now config.Loaded
	// Base is the configuration before the change.
	Base *Base
	// Manifests are what the instance is deployed from.
	Manifests *manifest.Set
	// BreakGlass is how to deploy when Prow can't.
	BreakGlass *BreakGlass
	// PullRequests are open ones.
	PullRequests []PullRequest
	// Live is what a build cluster says.
	Live *Live
	// GitHub is what GitHub says.
	GitHub *GitHub
	// Protector is what Prow's own cluster says of branchprotector.
	Protector *Protector
	// History is what a poller has seen of GitHub before.
	History *History
	Options Options
}

// Base is what was there before a change.
type Base struct {
	// Name is the revision as the user wrote it.
	Name   string
	Config config.Loaded
	// Manifests are nil where none were given.
	Manifests *manifest.Set
	// Failed is why the revision could not be read; then the rest is empty.
	Failed string
}

// Options are what the user states about the instance.
type Options struct {
	// Staging: this instance exists to find mistakes before production has them.
	Staging bool
	// Watched: the check is one of many. It has no earlier configuration to compare with, and nobody can give it one.
	Watched bool
	// External are the patterns of checks that others than Prow report; nil where the
	// user stated none.
	External []Pattern
	// DeployJobs are the jobs that apply the manifests; nil leaves it to what their
	// names and conditions say, and an empty list says that there are none.
	DeployJobs []string
	// Now is the time of the check, and MaximumAge how old an exercise of the way
	// around Prow may be.
	Now        time.Time
	MaximumAge time.Duration
}

// facts are Facts with what several rules derive from them.
type facts struct {
	Facts
	now, base *view
	jobs      []deployJob
}

func derive(given Facts) *facts {
	f := &facts{Facts: given}
	apps := f.appsRestrictions()
	if !f.Now.Incomplete() {
		f.now = newView(f.Now.Partial(), apps)
		f.jobs = f.deployJobs()
	}
	if f.Base != nil && f.Base.Failed == "" && !f.Base.Config.Incomplete() {
		f.base = newView(f.Base.Config.Partial(), apps)
	}
	return f
}

// appsRestrictions is whether the deployed branchprotector takes apps. Where it isn't
// known which one is deployed, nothing is made of it.
func (f *facts) appsRestrictions() bool {
	if f.Manifests == nil {
		return true
	}
	protectors := f.Manifests.Named("branchprotector")
	for _, protector := range protectors {
		if value, given := protector.Flag("enable-apps-restrictions"); given && value != "false" {
			return true
		}
	}
	return len(protectors) == 0
}
