package unblockpulls

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"salve/internal/prow/blocked"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/openpull"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

// Name is the runbook's name on the command line and in journals.
const Name = "unblock-pull-requests"

// World is what the runbook acts on.
type World struct {
	GitHub *github.Client
	// Endpoint is the base URL of the client's API; empty is that of github.com.
	Endpoint string
	// Reserve is how much of GitHub's rate limit the client leaves to others.
	Reserve int
	// Cluster is that of the Prow instance.
	Cluster *kube.Cluster
	// Config is what the inputs name, Digest that of its files.
	Config *config.Config
	Digest string
}

// New makes the runbook for the contexts that the inputs plan to ask for.
func New(world World, in Inputs) (runbook.Runbook, error) {
	u, err := newUnblocking(world, in)
	if err != nil {
		return runbook.Runbook{}, err
	}
	var steps []runbook.Step
	for _, action := range u.actions {
		steps = append(steps, action.step())
	}
	if len(steps) == 0 {
		steps = []runbook.Step{u.nothing()}
	}
	return u.book(steps), nil
}

// Replayed makes the runbook for its decisions alone, as a replay makes it: guards decide from recorded readings, and
// nothing is read. What the configuration said stands in the readings.
func Replayed(in Inputs, target runbook.Target) (runbook.Runbook, error) {
	u := &unblocking{in: in, target: target, prow: &instance{}, branches: &branches.Reader{}, pulls: &openpull.Reader{}}
	var steps []runbook.Step
	for i, planned := range in.Planned {
		repo, err := github.ParseRepo(planned.Repository)
		if err != nil {
			return runbook.Runbook{}, fmt.Errorf("invalid plan: %w", err)
		}
		a := u.newAction(i, planned, repo)
		u.actions = append(u.actions, a)
		steps = append(steps, runbook.Step{Name: a.name, Guards: beforeEach(),
			Preconditions: []runbook.Guard{a.stillToDo()}})
	}
	return u.book(steps), nil
}

func (u *unblocking) book(steps []runbook.Step) runbook.Runbook {
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: u.in, Budget: u.in.Budget.Duration, KeepOpen: true,
		Target: u.target,
		Guards: []runbook.Guard{
			u.notTheBot(), u.withinCap(), u.noStrays(), u.headroom(), u.budgetSuffices(), u.summary(), u.protectionRight(),
		},
		Steps:  steps,
		Checks: []runbook.Guard{u.contextsThere(), u.pullsFree()},
	}
}

// beforeEach are the guards that are asked again right before each change: none of them asks GitHub.
func beforeEach() []string { return []string{"no-strays", "headroom"} }

// nothing is the step of a run without a plan, which is made to find invalid inputs alone.
func (u *unblocking) nothing() runbook.Step {
	return runbook.Step{
		Name: "nothing", Passive: true, Changes: "nothing",
		Observe: func(context.Context, runbook.Run) runbook.Observation { return runbook.Done("nothing is planned") },
		Apply:   func(context.Context, runbook.Run) error { return nil },
	}
}

// unblocking is the runbook at work.
type unblocking struct {
	in       Inputs
	target   runbook.Target
	reserve  int
	github   *github.Client
	config   *config.Config
	branches *branches.Reader
	pulls    *openpull.Reader
	prow     *instance
	actions  []*action
	reported reporters
	own      own
}

func newUnblocking(world World, in Inputs) (*unblocking, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	in, err := in.absolute()
	if err != nil {
		return nil, err
	}
	endpoint := cmp.Or(world.Endpoint, github.DefaultBaseURL)
	switch {
	case in.Digest != "" && in.Digest != world.Digest:
		return nil, fmt.Errorf("configuration changed: the run was planned with other files than %s has now. "+
			"hint: salve abandon the run and begin a new one", in.Config)
	case in.GitHub != "" && in.GitHub != endpoint:
		return nil, fmt.Errorf("the run is about GitHub %s, not %s. hint: --github-endpoint, or GITHUB_API_URL",
			in.GitHub, endpoint)
	}
	in.Digest, in.GitHub = world.Digest, endpoint
	target, err := Target(endpoint)
	if err != nil {
		return nil, err
	}
	u := &unblocking{
		in: in, target: target, reserve: world.Reserve, github: world.GitHub, config: world.Config,
		branches: &branches.Reader{GitHub: world.GitHub, Config: world.Config, External: in.External},
		prow: &instance{
			cluster: world.Cluster, namespace: world.Config.ProwJobNamespace.Value, pods: world.Config.PodNamespace.Value,
			pendingTimeout: world.Config.Plank.PodPendingTimeout,
		},
	}
	u.pulls = &openpull.Reader{
		GitHub: u.github, Config: u.config, Clock: u.prow.cluster.Clock, Reporter: u.reporter,
	}
	return u, u.addActions()
}

// addActions makes an action of all that is planned: the record names it, and the configuration is asked again.
func (u *unblocking) addActions() error {
	seen := map[string]bool{}
	for i, planned := range u.in.Planned {
		if err := planned.validate(u.in); err != nil {
			return fmt.Errorf("invalid plan: %w", err)
		}
		repo, err := github.ParseRepo(planned.Repository)
		if err != nil {
			return fmt.Errorf("invalid plan: %w", err)
		}
		a := u.newAction(i, planned, repo)
		switch {
		case seen[a.name]:
			return fmt.Errorf("invalid plan: %s is listed twice", a.name)
		case planned.Do == blocked.Trigger && a.jobNamed() == nil:
			return fmt.Errorf("invalid plan: no job %s of the configuration reports %q on %s", planned.Job, planned.Context,
				a.branch)
		}
		seen[a.name] = true
		u.actions = append(u.actions, a)
	}
	return nil
}

func (u *unblocking) newAction(at int, planned Planned, repo github.Repo) *action {
	return &action{
		unblocking: u, at: at, planned: planned, repo: repo,
		name:   visible(fmt.Sprintf("%s %s %s", planned.Do, planned.pull(), planned.Context)),
		branch: config.Branch{Org: repo.Owner, Repo: repo.Name, Name: planned.Base},
	}
}

// visible quotes what a terminal would not show as it is.
func visible(name string) string {
	if strings.ContainsFunc(name, func(char rune) bool { return !unicode.IsPrint(char) }) {
		return strconv.QuoteToASCII(name)
	}
	return name
}
