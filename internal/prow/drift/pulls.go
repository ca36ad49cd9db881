package drift

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// openFor lists the open pull requests for a branch.
func (r *Reader) openFor(ctx context.Context, repo github.Repo, branch string) ([]github.PullRequest, error) {
	return patiently(ctx, r, func() ([]github.PullRequest, error) { return r.GitHub.PullRequests(ctx, repo, branch) })
}

// mostHeads bounds of how many commits reports are kept for a reading; those of others are asked for again.
const mostHeads = 2000

// head is a commit with its reports, which are asked for once in a reading.
type head struct {
	asking sync.Mutex
	known  *github.HeadReports
}

// reports are those of one commit. What failed is asked for again.
func (r *reading) reports(ctx context.Context, repo github.Repo, sha string) (github.HeadReports, error) {
	of := r.head(repo, sha)
	of.asking.Lock()
	defer of.asking.Unlock()
	if of.known != nil {
		return *of.known, nil
	}
	reports, err := patiently(ctx, r.Reader, func() (github.HeadReports, error) {
		return r.GitHub.Reports(ctx, repo, sha)
	})
	if err == nil {
		of.known = &reports
	}
	return reports, err
}

func (r *reading) head(repo github.Repo, sha string) *head {
	r.lock.Lock()
	defer r.lock.Unlock()
	at := commit{repo, sha}
	if of, known := r.heard[at]; known {
		return of
	}
	of := &head{}
	if len(r.heard) < mostHeads {
		r.heard[at] = of
	}
	return of
}

// commit is one of a repository.
type commit struct {
	repo github.Repo
	sha  string
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
	r.jobsBefore(ctx)
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
