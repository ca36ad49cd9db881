package drift

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// openFor lists the open pull requests for a branch.
func (r *Reader) openFor(ctx context.Context, repo github.Repo, branch string) ([]github.PullRequest, error) {
	return patiently(ctx, r, func() ([]github.PullRequest, error) { return r.GitHub.PullRequests(ctx, repo, branch) })
}

// reports are those of one commit.
func (r *Reader) reports(ctx context.Context, repo github.Repo, sha string) (github.HeadReports, error) {
	return patiently(ctx, r, func() (github.HeadReports, error) { return r.GitHub.Reports(ctx, repo, sha) })
}

// pulls reads the open pull requests for branches, with what was reported on their heads.
func (r *reading) pulls(ctx context.Context, branches []config.Branch) {
	missed := func(what, reason string) { r.note(func(seen *check.GitHub) { seen.PullsUnread[what] = reason }) }
	var open []github.PullRequest
	for _, branch := range branches {
		listed, err := r.openFor(ctx, repoOf(branch), branch.Name)
		if err != nil {
			missed("pull requests for "+branch.String(), r.reason(err))
			continue
		}
		for _, pull := range listed {
			if !pull.Draft {
				open = append(open, pull)
			}
		}
	}
	each(ctx, r, open, func(ctx context.Context, pull github.PullRequest) {
		reports, err := r.reports(ctx, pull.Repo, pull.HeadSHA)
		if err != nil {
			missed(named(pull), r.reason(err))
			return
		}
		read := check.PullRequest{Number: pull.Number,
			Branch: config.Branch{Org: pull.Repo.Owner, Repo: pull.Repo.Name, Name: pull.Base}}
		for _, report := range reports.Contexts {
			read.Contexts = append(read.Contexts, report.Name)
		}
		r.note(func(seen *check.GitHub) { seen.Pulls = append(seen.Pulls, read) })
	}, func(pull github.PullRequest, reason string) { missed(named(pull), reason) })
	r.note(func(seen *check.GitHub) {
		slices.SortFunc(seen.Pulls, func(a, b check.PullRequest) int {
			return cmp.Or(strings.Compare(a.String(), b.String()), a.Number-b.Number)
		})
	})
}
