package branches

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"salve/internal/apierr"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/kube"
)

// Reader reads branches of one GitHub by one configuration. It is safe for concurrent use.
type Reader struct {
	GitHub *github.Client
	// Config is nil where a run is undone.
	Config *config.Config
	// Base is an earlier configuration, which tells what Prow once produced; may be nil.
	Base  *config.Config
	Flags config.ProtectorFlags
	// External are contexts that others than Prow report.
	External []string

	lock sync.Mutex
	// seen are branches that were read: what is asked about their protection rests on that.
	seen map[config.Branch]github.Branch
}

// RuleOf is what the configuration says of a branch. The error is a *config.PolicyError.
func (r *Reader) RuleOf(branch config.Branch) (protection.Rule, error) {
	decision, err := r.Config.Protector(branch, r.Flags)
	if err != nil {
		return protection.Rule{}, err
	}
	return protection.RuleOf(branch, decision), nil
}

func (r *Reader) comparer() protection.Comparer {
	return protection.Comparer{Config: r.Config, Base: r.Base}
}

// Parse reads "org/repo=branch".
func Parse(text string) (config.Branch, error) {
	repository, name, found := strings.Cut(text, "=")
	repo, err := github.ParseRepo(repository)
	if !found || err != nil || name == "" {
		return config.Branch{}, fmt.Errorf("invalid branch %q: expected ORG/REPO=BRANCH", text)
	}
	return config.Branch{Org: repo.Owner, Repo: repo.Name, Name: name}, nil
}

func repoOf(branch config.Branch) github.Repo {
	return github.Repo{Owner: branch.Org, Name: branch.Repo}
}

// State reads one branch afresh.
func (r *Reader) State(ctx context.Context, rule protection.Rule) (protection.State, error) {
	branch, err := r.branch(ctx, rule.Branch)
	if err == nil {
		var live github.Protection
		if live, err = r.GitHub.Protection(ctx, branch); err == nil {
			return r.comparer().Compare(rule, live), nil
		}
	}
	if apierr.ClassOf(err) == apierr.Missing {
		return r.gone(ctx, rule, err)
	}
	return protection.State{}, err
}

// gone believes that a branch is gone when GitHub says so of the branch itself, in a repository that is there.
func (r *Reader) gone(ctx context.Context, rule protection.Rule, cause error) (protection.State, error) {
	repo := repoOf(rule.Branch)
	_, err := r.GitHub.Branch(ctx, repo, rule.Branch.Name)
	switch {
	case err == nil:
		return protection.State{}, apierr.New(apierr.Transient, "%s is there and is not: %w", rule.Branch, cause)
	case apierr.ClassOf(err) != apierr.Missing:
		return protection.State{}, err
	}
	if _, err := r.GitHub.Repository(ctx, repo); err != nil {
		return protection.State{}, err
	}
	return protection.State{Branch: rule.Branch, Kind: rule.Kind, Gone: true}, nil
}

// branch gives a branch that was read, by an earlier list or now.
func (r *Reader) branch(ctx context.Context, name config.Branch) (github.Branch, error) {
	r.lock.Lock()
	known, found := r.seen[name]
	r.lock.Unlock()
	if found {
		return known, nil
	}
	branch, err := r.GitHub.Branch(ctx, repoOf(name), name.Name)
	if err != nil {
		return github.Branch{}, err
	}
	r.remember(name, branch)
	return branch, nil
}

func (r *Reader) remember(name config.Branch, branch github.Branch) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.seen == nil {
		r.seen = map[config.Branch]github.Branch{}
	}
	r.seen[name] = branch
}

// States reads branches afresh, in the order of the rules. The branches of one repository are listed, where that takes
// fewer calls than asking for each.
func (r *Reader) States(ctx context.Context, rules []protection.Rule) ([]protection.State, error) {
	if err := r.list(ctx, rules); err != nil {
		return nil, err
	}
	states := make([]protection.State, len(rules))
	err := kube.Parallel(ctx, len(rules), func(ctx context.Context, i int) (err error) {
		states[i], err = r.State(ctx, rules[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return states, nil
}

// list reads the branches of repositories of which several have to be read.
func (r *Reader) list(ctx context.Context, rules []protection.Rule) error {
	unread := map[github.Repo]int{}
	r.lock.Lock()
	for _, rule := range rules {
		if _, found := r.seen[rule.Branch]; !found {
			unread[repoOf(rule.Branch)]++
		}
	}
	r.lock.Unlock()
	for repo, count := range unread {
		if count < 2 {
			continue
		}
		if _, err := r.branchesOf(ctx, repo); err != nil {
			return err
		}
	}
	return nil
}

// branchesOf lists the branches of a repository.
func (r *Reader) branchesOf(ctx context.Context, repo github.Repo) ([]github.Branch, error) {
	listed, err := r.GitHub.Branches(ctx, repo)
	if err != nil {
		return nil, err
	}
	for _, branch := range listed {
		r.remember(config.Branch{Org: repo.Owner, Repo: repo.Name, Name: branch.Name}, branch)
	}
	return listed, nil
}
