package github

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
)

// filesLimit is how many changed files of a pull request GitHub lists
// (https://docs.github.com/rest/pulls/pulls#list-pull-requests-files).
const filesLimit = 3000

// MergeState is GitHub's word on whether a pull request can be merged now: mergeable_state in REST, which is
// mergeStateStatus in GraphQL (https://docs.github.com/graphql/reference/enums#mergestatestatus).
type MergeState string

// What GitHub says. MergeUnknown means that it is still being computed.
const (
	MergeClean    MergeState = "clean"
	MergeBlocked  MergeState = "blocked"
	MergeBehind   MergeState = "behind"
	MergeDirty    MergeState = "dirty"
	MergeDraft    MergeState = "draft"
	MergeUnstable MergeState = "unstable"
	MergeHasHooks MergeState = "has_hooks"
	MergeUnknown  MergeState = "unknown"
)

// PullRequest is a pull request.
type PullRequest struct {
	Repo   Repo
	Number int
	Title  string
	Author string
	// Association is the author's to the repository, such as MEMBER or NONE.
	Association string
	Open, Draft bool
	Labels      []string
	// Base is the branch that it is for; BaseSHA is what that was when GitHub last looked.
	Base, BaseSHA string
	HeadSHA       string
	// HeadRepo is where its branch is; zero when that repository is gone.
	HeadRepo         Repo
	Created, Updated time.Time
	// MergeState is set by PullRequest alone: a list doesn't say it.
	MergeState MergeState
}

// PullRequests lists the open pull requests of a repository, those for one branch when base is not empty. One that is
// opened or closed while the list is read may be left out; none is there twice.
func (c *Client) PullRequests(ctx context.Context, repo Repo, base string) ([]PullRequest, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	// The oldest first: what is opened meanwhile moves no other to a page that was read.
	query := url.Values{"state": {"open"}, "sort": {"created"}, "direction": {"asc"}}
	doing := fmt.Sprintf("listing the open pull requests of %s", repo)
	if base != "" {
		if err := checkBranchName(base); err != nil {
			return nil, err
		}
		query.Set("base", base)
	}
	var all []PullRequest
	listed := map[int]bool{}
	err := eachPage(ctx, c, doing, repo.path("pulls"), query, func(page []*gogithub.PullRequest) (int, error) {
		for _, one := range page {
			pull, err := pullOf(repo, one)
			if err != nil {
				return 0, err
			}
			if !pull.Open || base != "" && pull.Base != base {
				return 0, otherObject("open pull requests for", base, fmt.Sprintf("#%d for %s", pull.Number, pull.Base))
			}
			if !listed[pull.Number] {
				listed[pull.Number] = true
				pull.MergeState = "" // a list doesn't say it
				all = append(all, pull)
			}
		}
		return len(page), nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// PullRequest reads one pull request with its merge state. GitHub computes that when it is asked for; MergeUnknown is
// given when it hasn't finished within half a minute.
func (c *Client) PullRequest(ctx context.Context, repo Repo, number int) (PullRequest, error) {
	if err := repo.check(); err != nil {
		return PullRequest{}, err
	}
	doing := fmt.Sprintf("reading pull request %s#%d", repo, number)
	for start, n := c.clock.Now(), 1; ; n++ {
		var answer gogithub.PullRequest
		if _, err := c.get(ctx, doing, repo.path("pulls", strconv.Itoa(number)), &answer); err != nil {
			return PullRequest{}, err
		}
		pull, err := pullOf(repo, &answer)
		if err == nil && pull.Number != number {
			err = otherObject("pull request", strconv.Itoa(number), strconv.Itoa(pull.Number))
		}
		if err != nil {
			return PullRequest{}, fmt.Errorf("%s: %w", doing, err)
		}
		if !pull.Open || pull.MergeState != MergeUnknown || c.clock.Since(start) > backoff.CallTimeout {
			return pull, nil
		}
		if err := clock.Sleep(ctx, c.clock, backoff.Refusals().Pause(n, 0)); err != nil {
			return PullRequest{}, fmt.Errorf("%s: merge state is not computed yet: %w", doing, err)
		}
	}
}

func pullOf(repo Repo, p *gogithub.PullRequest) (PullRequest, error) {
	pull := PullRequest{
		Repo: repo, Number: p.GetNumber(), Title: p.GetTitle(), Author: p.GetUser().GetLogin(),
		Association: p.GetAuthorAssociation(), Open: p.GetState() == "open", Draft: p.GetDraft(),
		Base: p.GetBase().GetRef(), BaseSHA: p.GetBase().GetSHA(), HeadSHA: p.GetHead().GetSHA(),
		Created: p.GetCreatedAt().Time, Updated: p.GetUpdatedAt().Time, MergeState: mergeStateOf(p),
	}
	head := p.GetHead().GetRepo()
	if head != nil {
		pull.HeadRepo = Repo{Owner: head.GetOwner().GetLogin(), Name: head.GetName()}
	}
	for _, label := range p.Labels {
		pull.Labels = append(pull.Labels, label.GetName())
	}
	switch full := p.GetBase().GetRepo().GetFullName(); {
	case !repo.is(full):
		return PullRequest{}, otherObject("pull request of", repo.String(), full)
	case !isSHA(pull.HeadSHA) || pull.Number < 1 || pull.Base == "":
		return PullRequest{}, apierr.New(apierr.Terminal, "unexpected answer: pull request #%d for %q has the head %q",
			pull.Number, short(pull.Base), short(pull.HeadSHA))
	}
	return pull, nil
}

// mergeStateOf takes a word that GitHub did not have before as it is: who asks for "clean" won't find it.
func mergeStateOf(p *gogithub.PullRequest) MergeState {
	if p.GetMergeableState() == "" {
		return MergeUnknown
	}
	return MergeState(short(p.GetMergeableState()))
}

// Files are the files that a pull request changes.
type Files struct {
	Files []File
	// Truncated: GitHub lists 3,000 at most, and there may be more.
	Truncated bool
}

// File is one changed file.
type File struct {
	Name string
	// Previous is its name before it was renamed.
	Previous string
	// Status is GitHub's word: added, removed, modified, renamed, …
	Status string
}

// ChangedFiles lists the files that a pull request changes.
func (c *Client) ChangedFiles(ctx context.Context, repo Repo, number int) (Files, error) {
	if err := repo.check(); err != nil {
		return Files{}, err
	}
	var all Files
	err := eachPage(ctx, c, fmt.Sprintf("listing the changed files of %s#%d", repo, number),
		repo.path("pulls", strconv.Itoa(number), "files"), nil, func(page []*gogithub.CommitFile) (int, error) {
			for _, one := range page {
				if one.GetFilename() == "" {
					return 0, apierr.New(apierr.Terminal, "unexpected answer: a file without a name")
				}
				all.Files = append(all.Files, File{
					Name: one.GetFilename(), Previous: one.GetPreviousFilename(), Status: one.GetStatus(),
				})
			}
			return len(page), nil
		})
	if err != nil {
		return Files{}, err
	}
	all.Truncated = len(all.Files) >= filesLimit
	return all, nil
}
