package branches

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// Pull is an open pull request that waited, when the run was planned, for a context that no longer will be required.
type Pull struct {
	Repository string `json:"repository"`
	Number     int    `json:"number"`
	Head       string `json:"head"`
	// Waits is for which contexts.
	Waits []string `json:"waits"`
}

func (p Pull) String() string { return fmt.Sprintf("%s#%d", p.Repository, p.Number) }

// Waiting finds up to n open pull requests that wait for contexts which go. It looks into n repositories at most, and
// at a few pull requests of each.
func (r *Reader) Waiting(ctx context.Context, states []State, n int) ([]Pull, error) {
	const few = 3
	removed, repositories := removedOf(states)
	var sample []Pull
	for _, repo := range repositories[:min(len(repositories), n)] {
		pulls, err := r.GitHub.PullRequests(ctx, repo, "")
		if err != nil {
			return nil, err
		}
		looked := 0
		for _, pull := range pulls {
			contexts := removed[config.Branch{Org: repo.Owner, Repo: repo.Name, Name: pull.Base}]
			if len(contexts) == 0 || pull.Draft || looked == few || len(sample) == n {
				continue
			}
			looked++
			waits, err := r.waits(ctx, pull, contexts)
			if err != nil {
				return nil, err
			}
			if len(waits) > 0 {
				sample = append(sample, Pull{
					Repository: repo.String(), Number: pull.Number, Head: pull.HeadSHA, Waits: waits,
				})
			}
		}
	}
	return sample, nil
}

// removedOf are the contexts that go, by branch, and the repositories of these branches in their order.
func removedOf(states []State) (map[config.Branch][]string, []github.Repo) {
	removed := map[config.Branch][]string{}
	var repositories []github.Repo
	for _, state := range states {
		if contexts := state.Removed(); len(contexts) > 0 {
			removed[state.Branch] = contexts
			repositories = append(repositories, repoOf(state.Branch))
		}
	}
	return removed, slices.Compact(repositories)
}

// waits are the contexts that are not green on a pull request's head.
func (r *Reader) waits(ctx context.Context, pull github.PullRequest, contexts []string) ([]string, error) {
	reports, err := r.GitHub.Reports(ctx, pull.Repo, pull.HeadSHA)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(contexts), func(name string) bool { return green(reports, name) }), nil
}

// green tells whether all that was reported by a name is success, and something was.
func green(reports github.HeadReports, name string) bool {
	named := reports.Named(name)
	red := func(one github.Context) bool { return one.State != github.Success }
	return len(named) > 0 && !slices.ContainsFunc(named, red)
}

// Outlook is whether a pull request can be merged.
type Outlook struct {
	Pull
	// Free: GitHub would merge it, or it is closed. Reason says what stands in the way, or how it stands.
	Free   bool
	Reason string
	// Missing are required contexts that are not green.
	Missing []string
}

// WaitsFor tells whether a context is required, and not green.
func (o Outlook) WaitsFor(context string) bool { return slices.Contains(o.Missing, context) }

// Outlooks say of pull requests whether they can be merged now, and why not.
func (r *Reader) Outlooks(ctx context.Context, sample []Pull) ([]Outlook, error) {
	var all []Outlook
	for _, pull := range sample {
		outlook, err := r.outlook(ctx, pull)
		if err != nil {
			return nil, err
		}
		all = append(all, outlook)
	}
	return all, nil
}

func (r *Reader) outlook(ctx context.Context, asked Pull) (Outlook, error) {
	repo, err := github.ParseRepo(asked.Repository)
	if err != nil {
		return Outlook{}, err
	}
	pull, err := r.GitHub.PullRequest(ctx, repo, asked.Number)
	if err != nil {
		return Outlook{}, err
	}
	says := map[github.MergeState]string{
		github.MergeDirty: "it conflicts with its base", github.MergeDraft: "it is a draft",
		github.MergeBehind: "it is behind its base",
	}
	outlook := Outlook{Pull: asked, Reason: says[pull.MergeState]}
	switch {
	case !pull.Open:
		outlook.Free, outlook.Reason = true, "closed or merged"
	case pull.MergeState == github.MergeClean, pull.MergeState == github.MergeUnstable,
		pull.MergeState == github.MergeHasHooks:
		outlook.Free, outlook.Reason = true, "mergeable"
	case pull.MergeState == github.MergeUnknown:
		return Outlook{}, fmt.Errorf("GitHub has not yet computed whether %s can be merged", asked)
	case outlook.Reason == "":
		outlook.Reason, outlook.Missing, err = r.blockedBy(ctx, pull)
	}
	return outlook, err
}

// blockedBy names what a blocked pull request waits for; empty when nothing that is known.
func (r *Reader) blockedBy(ctx context.Context, pull github.PullRequest) (reason string, missing []string, _ error) {
	demand, err := r.demandOf(ctx, config.Branch{Org: pull.Repo.Owner, Repo: pull.Repo.Name, Name: pull.Base})
	if err != nil {
		return "", nil, err
	}
	var reasons []string
	for _, rule := range demand.rules {
		if rule.StatusChecks == nil {
			reasons = append(reasons, fmt.Sprintf("rule %s of ruleset %d", rule.Type, rule.Ruleset.ID))
		}
	}
	missing, err = r.waits(ctx, pull, demand.contexts())
	if err != nil {
		return "", nil, err
	}
	if len(missing) > 0 {
		reasons = append(reasons, "not green: "+strings.Join(missing, ", "))
	}
	if reviews := demand.live.Reviews; reviews != nil {
		reasons = append(reasons, fmt.Sprintf("%d approvals are required", reviews.Approvals))
	}
	return strings.Join(reasons, "; "), missing, nil
}

// Required are the contexts that GitHub requires on a branch now, by classic protection and rulesets together, sorted.
func (r *Reader) Required(ctx context.Context, of config.Branch) ([]string, error) {
	demand, err := r.demandOf(ctx, of)
	if err != nil {
		return nil, err
	}
	return demand.contexts(), nil
}

// demand is what GitHub asks of pull requests for a branch.
type demand struct {
	live  github.Settings
	rules []github.Rule
}

func (r *Reader) demandOf(ctx context.Context, of config.Branch) (demand, error) {
	branch, err := r.branch(ctx, of)
	if err != nil {
		return demand{}, err
	}
	live, err := r.GitHub.Protection(ctx, branch)
	if err != nil {
		return demand{}, err
	}
	rules, err := r.GitHub.Rules(ctx, branch)
	return demand{live.Settings, rules}, err
}

func (d demand) contexts() []string {
	required := d.live.StatusChecks.Contexts()
	for _, rule := range d.rules {
		required = append(required, rule.StatusChecks.Contexts()...)
	}
	slices.Sort(required)
	return slices.Compact(required)
}
