package drift

import (
	"context"
	"slices"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
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
		if err := s.look(ctx, commit.SHA, "on commit "+commit.SHA[:7]); err != nil {
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
	for _, pull := range slices.Backward(pulls[max(0, len(pulls)-mostPulls):]) {
		if len(s.missing) == 0 {
			return nil
		}
		if err := s.look(ctx, pull.HeadSHA, "on the head of an open pull request"); err != nil {
			return err
		}
		s.heads.Pulls++
	}
	return nil
}

// look looks at the reports on one commit.
func (s *search) look(ctx context.Context, sha, where string) error {
	reports, err := s.reports(ctx, s.repo, sha)
	if err != nil {
		return err
	}
	if len(reports.Contexts) > 0 {
		s.heads.Reported++
	}
	s.missing = slices.DeleteFunc(s.missing, func(context string) bool {
		if len(reports.Named(context)) == 0 {
			return false
		}
		s.heads.Seen[context] = where
		return true
	})
	return nil
}
