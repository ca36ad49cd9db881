package drift

import (
	"context"
	"slices"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
)

// mostPulls is how many open pull requests of a branch are looked at for a context, the newest first.
const mostPulls = 10

// suspected is a branch with the contexts to look for.
type suspected struct {
	config.Branch
	contexts []string
}

// heads looks for contexts on the latest commits of their branches, in no order: where the rate limit doesn't suffice
// for all, it is not the same ones each time that are left out.
func (r *reading) heads(ctx context.Context, suspects map[config.Branch][]string) {
	var all []suspected
	for branch, contexts := range suspects {
		all = append(all, suspected{branch, contexts})
	}
	keep := func(branch config.Branch, heads check.Heads) {
		r.note(func(seen *check.GitHub) { seen.Heads[branch] = heads })
	}
	each(ctx, r, all,
		func(ctx context.Context, s suspected) { keep(s.Branch, r.headsOf(ctx, s)) },
		func(s suspected, reason string) { keep(s.Branch, check.Heads{Failed: reason}) })
}

// headsOf looks at commits, and then at heads of open pull requests, until all contexts were seen.
func (r *reading) headsOf(ctx context.Context, s suspected) check.Heads {
	of := &search{reading: r, repo: repoOf(s.Branch), missing: slices.Clone(s.contexts),
		heads: check.Heads{Seen: map[string]string{}}}
	if err := of.run(ctx, r.branchOf(s.Branch)); err != nil {
		of.heads.Failed = r.reason(err)
	}
	return of.heads
}

// branchOf is a branch that was read.
func (r *reading) branchOf(name config.Branch) (branch github.Branch) {
	r.note(func(seen *check.GitHub) { branch = seen.Branches[name].Protection.Branch })
	return branch
}

func repoOf(branch config.Branch) github.Repo {
	return github.Repo{Owner: branch.Org, Name: branch.Repo}
}

// search is one for contexts of a branch.
type search struct {
	*reading
	repo    github.Repo
	missing []string
	heads   check.Heads
}

func (s *search) run(ctx context.Context, branch github.Branch) error {
	commits, err := patiently(ctx, s.Reader, func() ([]github.Commit, error) {
		return s.GitHub.HeadCommits(ctx, branch, check.LeastCommits)
	})
	if err != nil {
		return err
	}
	for _, commit := range commits {
		if len(s.missing) == 0 {
			return nil
		}
		if err := s.look(ctx, commit.SHA, "on commit "+commit.SHA[:7], github.HeadReports.Named); err != nil {
			return err
		}
		s.heads.Commits++
	}
	if len(s.missing) == 0 {
		return nil
	}
	pulls, err := s.openFor(ctx, s.repo, branch.Name)
	if err != nil {
		return err
	}
	if len(pulls) > 0 {
		s.jobsBefore(ctx)
	}
	for _, pull := range slices.Backward(pulls[max(0, len(pulls)-mostPulls):]) {
		if len(s.missing) == 0 {
			return nil
		}
		if err := s.look(ctx, pull.HeadSHA, "on the head of an open pull request", credible(pull)); err != nil {
			return err
		}
		s.heads.Pulls++
	}
	return nil
}

// actions is the app whose check runs are named by workflows.
const actions = "github-actions"

// credible gives the reports of a name on the head of a pull request that its author can't have made. Who may write to
// the repository posts statuses, and apps that are installed there make check runs. But GitHub Actions runs the
// workflows that are in the pull request, so that on one from a fork anybody names its check runs
// (https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request).
func credible(pull github.PullRequest) func(github.HeadReports, string) []github.Context {
	fork := protection.Key(pull.HeadRepo) != protection.Key(pull.Repo)
	return func(reports github.HeadReports, name string) []github.Context {
		return slices.DeleteFunc(reports.Named(name), func(one github.Context) bool {
			return fork && one.CheckRun && one.Reporter == actions
		})
	}
}

// look looks at the reports on one commit.
func (s *search) look(
	ctx context.Context, sha, where string, named func(github.HeadReports, string) []github.Context,
) error {
	reports, err := s.reports(ctx, s.repo, sha)
	if err != nil {
		return err
	}
	if len(reports.Contexts) > 0 {
		s.heads.Reported++
	}
	s.missing = slices.DeleteFunc(s.missing, func(context string) bool {
		if len(named(reports, context)) == 0 {
			return false
		}
		s.heads.Seen[context] = where
		return true
	})
	return nil
}
