package repairprotection

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/internal/prow/protector"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

// Name is the runbook's name on the command line and in journals.
const Name = "repair-branch-protection"

// World is what the runbook acts on.
type World struct {
	GitHub *github.Client
	// Endpoint is the base URL of the client's API; empty is that of github.com.
	Endpoint string
	// Reserve is how much of GitHub's rate limit the client leaves to others.
	Reserve int
	// Cluster is that of the Prow instance.
	Cluster *kube.Cluster
	// Configuration is what the inputs name. Base is the earlier one, zero when they name none.
	Configuration, Base Configuration
}

// New makes the runbook for the branches that the inputs name.
func New(world World, in Inputs) (runbook.Runbook, error) {
	r, err := newRepair(world, in)
	if err != nil {
		return runbook.Runbook{}, err
	}
	steps := []runbook.Step{r.recordRevision()}
	for i := range r.rules {
		steps = append(steps, r.step(r.branch(i)))
	}
	return r.book(steps), nil
}

func (r *repair) book(steps []runbook.Step) runbook.Runbook {
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: r.in, Budget: r.in.Budget.Duration, KeepGoing: true, KeepOpen: true,
		Target: r.target,
		Guards: r.guards(),
		Steps:  steps,
		Checks: r.checks(),
	}
}

func (r *repair) guards() []runbook.Guard {
	return []runbook.Guard{
		r.noProtectorRunning(), r.protectorAgrees(), r.configurationNotOlder(), r.budgetSuffices(),
		r.summary(), r.protectionDiffers(), r.noBranchUnprotected(), r.contextsReported(),
	}
}

// beforeEach are the guards that are asked again right before each change: none of them asks GitHub.
func beforeEach() []string {
	return []string{"no-protector-running", "protector-agrees", "configuration-not-older"}
}

func (r *repair) checks() []runbook.Guard {
	checks := []runbook.Guard{r.protectionsRight(), r.pullsFree()}
	if r.in.RemoveLeftovers {
		checks = slices.Insert(checks, 1, r.leftoversGone())
	}
	return checks
}

// repair is the runbook at work.
type repair struct {
	in Inputs
	// first is the step before all branches.
	first   string
	target  runbook.Target
	host    string
	reserve int
	github  *github.Client
	// branches reads GitHub, cluster reads Prow's cluster.
	branches *branches.Reader
	cluster  *protector.Reader
	// rules are what the configuration says of the branches of the inputs, in their order.
	rules []protection.Rule
	// ready is called before the rules are used; nil where they are known from the start.
	ready func(context.Context) error
	// all is a reading of all these branches.
	all runbook.Shared[[]protection.State]
}

func newRepair(world World, in Inputs) (*repair, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	in, err := in.absolute()
	if err != nil {
		return nil, err
	}
	endpoint := cmp.Or(world.Endpoint, github.DefaultBaseURL)
	prowJobs := world.Configuration.Config.ProwJobNamespace.Value
	switch {
	case slices.Contains(in.Others, prowJobs):
		return nil, fmt.Errorf("--other-prow-namespace %s: this Prow has its ProwJobs there", prowJobs)
	case in.Digest != "" && in.Digest != world.Configuration.Digest:
		return nil, fmt.Errorf("configuration changed: the run was planned with digest %s, and %s has %s now. "+
			"hint: check out revision %s again, or salve abandon the run and begin a new one",
			short(in.Digest), in.Config, short(world.Configuration.Digest), in.Revision)
	case in.BaseDigest != "" && in.BaseDigest != world.Base.Digest:
		return nil, fmt.Errorf("configuration changed: %s is not what the run was planned with", in.BaseConfig)
	case in.GitHub != "" && in.GitHub != endpoint:
		return nil, fmt.Errorf("the run is about GitHub %s, not %s. hint: --github-endpoint, or GITHUB_API_URL",
			in.GitHub, endpoint)
	}
	in.Digest, in.BaseDigest, in.GitHub = world.Configuration.Digest, world.Base.Digest, endpoint
	target, err := Target(endpoint)
	if err != nil {
		return nil, err
	}
	host, err := github.Host(endpoint)
	if err != nil {
		return nil, err
	}
	r := &repair{
		in: in, first: recordName, target: target, host: host, github: world.GitHub, reserve: world.Reserve,
		branches: &branches.Reader{
			GitHub: world.GitHub, Config: world.Configuration.Config, Base: world.Base.Config,
			Flags: config.ProtectorFlags{AppsRestrictions: in.AppsRestrictions}, External: in.External,
		},
		cluster: &protector.Reader{
			Cluster: world.Cluster, ProwJobs: world.Configuration.Config.ProwJobNamespace.Value, Manifests: in.Manifests,
			Ours: protector.ScopeOf(world.Configuration.Config, world.Base.Config), Others: in.Others,
			Namespace: in.RecordNamespace, Host: host,
		},
	}
	if r.rules, err = rulesOf(in, r.branches); err != nil {
		return nil, err
	}
	for _, rule := range r.rules {
		r.cluster.Ours.Add(rule.Branch)
	}
	return r, r.checkAllowed()
}

// checkAllowed finds branches that may be unprotected, and that the configuration does not unprotect: a name that was
// mistyped allows nothing.
func (r *repair) checkAllowed() error {
	for _, name := range slices.Sorted(maps.Keys(r.in.AllowUnprotect)) {
		branch, err := branches.Parse(name)
		if err != nil {
			return err
		}
		rule, err := r.branches.RuleOf(branch)
		if err != nil {
			return err
		}
		if rule.Kind != protection.Unprotect {
			return fmt.Errorf("--allow-unprotect %s: the configuration does not unprotect this branch", branch)
		}
	}
	return nil
}

// read gives all branches of the run, read once in a round.
func (r *repair) read(ctx context.Context, run runbook.Run) ([]protection.State, error) {
	return r.all.Get(ctx, run, func(ctx context.Context) ([]protection.State, error) {
		if err := r.known(ctx); err != nil {
			return nil, err
		}
		return r.branches.States(ctx, r.rules)
	})
}

func (r *repair) known(ctx context.Context) error {
	if r.ready == nil {
		return nil
	}
	return r.ready(ctx)
}

func short(digest string) string { return digest[:min(12, len(digest))] }
