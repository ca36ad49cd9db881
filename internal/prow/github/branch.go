package github

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/apierr"
)

// Branch is a branch that was read: what is said about its protection rests on that.
type Branch struct {
	Repo Repo
	Name string
	// SHA is that of its head.
	SHA string
	// Protected is GitHub's flag: classic protection or a ruleset
	// (https://docs.github.com/rest/branches/branches#list-branches).
	Protected bool
	// Required are the contexts that classic protection requires, as whoever may read the repository sees them; nil:
	// GitHub did not say. Strict is not said here.
	Required *StatusChecks
}

func (b Branch) String() string { return b.Repo.String() + "=" + b.Name }

// checkBranchName refuses what can't be a branch (https://git-scm.com/docs/git-check-ref-format) and would mean another
// path.
func checkBranchName(name string) error {
	if name == "" || len(name) > 1000 || name == "." || strings.Contains(name, "..") ||
		strings.ContainsFunc(name, isControl) {
		return apierr.New(apierr.Terminal, "invalid branch name %q", short(name))
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// seen refuses a branch that nobody read.
func (b Branch) seen() error {
	if b.SHA == "" {
		return apierr.New(apierr.Terminal, "branch %s was not read before", short(b.String()))
	}
	if err := b.Repo.check(); err != nil {
		return err
	}
	return checkBranchName(b.Name)
}

// Branches lists the branches of a repository.
func (c *Client) Branches(ctx context.Context, repo Repo) ([]Branch, error) {
	if err := repo.check(); err != nil {
		return nil, err
	}
	var all []Branch
	err := eachPage(ctx, c, fmt.Sprintf("listing the branches of %s", repo), repo.path("branches"), nil,
		func(page []*gogithub.Branch) (int, error) {
			for _, one := range page {
				branch, err := branchOf(repo, one)
				if err != nil {
					return 0, err
				}
				all = append(all, branch)
			}
			return len(page), nil
		})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Branch reads one branch. It fails with class Missing only on GitHub's word that there is no such branch.
func (c *Client) Branch(ctx context.Context, repo Repo, name string) (Branch, error) {
	if err := repo.check(); err != nil {
		return Branch{}, err
	}
	if err := checkBranchName(name); err != nil {
		return Branch{}, err
	}
	doing := fmt.Sprintf("reading branch %q of %s", name, repo)
	var answer gogithub.Branch
	if _, err := c.get(ctx, doing, repo.path("branches", name), &answer); err != nil {
		return Branch{}, err
	}
	branch, err := branchOf(repo, &answer)
	if err == nil && branch.Name != name {
		err = otherObject("branch", name, branch.Name)
	}
	if err != nil {
		return Branch{}, fmt.Errorf("%s: %w", doing, err)
	}
	return branch, nil
}

func branchOf(repo Repo, b *gogithub.Branch) (Branch, error) {
	branch := Branch{Repo: repo, Name: b.GetName(), SHA: b.GetCommit().GetSHA(), Protected: b.GetProtected()}
	if err := branch.seen(); err != nil {
		return Branch{}, fmt.Errorf("unexpected answer: %w", err)
	}
	if b.Protection != nil && b.Protection.RequiredStatusChecks != nil {
		branch.Required = requiredOf(b.Protection.RequiredStatusChecks)
	}
	if !isSHA(branch.SHA) {
		return Branch{}, apierr.New(apierr.Terminal, "unexpected answer: branch %q has the head %q", short(branch.Name),
			short(branch.SHA))
	}
	return branch, nil
}

// requiredOf reads the summary of a branch's protection. Older servers name contexts alone.
func requiredOf(summary *gogithub.RequiredStatusChecks) *StatusChecks {
	required := &StatusChecks{}
	for _, check := range deref(summary.Checks) {
		required.Checks = append(required.Checks, Check{Context: check.Context, App: max(check.GetAppID(), 0)})
	}
	for _, name := range deref(summary.Contexts) {
		required.add(name)
	}
	return required
}

func deref[T any](list *[]T) []T {
	if list == nil {
		return nil
	}
	return *list
}

// isSHA tells whether a text is the whole name of a commit, of SHA-1 or SHA-256.
func isSHA(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// Commit is one commit of a branch.
type Commit struct {
	SHA string
	// Committed is the committer's date, which whoever made the commit chose.
	Committed time.Time
}

// HeadCommits reads the latest commits of a branch as it was read, the head first: n at most, and 100 at most. Fewer
// means that the branch has no more.
func (c *Client) HeadCommits(ctx context.Context, branch Branch, n int) ([]Commit, error) {
	if err := branch.seen(); err != nil {
		return nil, err
	}
	if n < 1 || n > perPage {
		return nil, apierr.New(apierr.Terminal, "head commits: %d is not between 1 and %d", n, perPage)
	}
	doing := fmt.Sprintf("reading the head commits of %s", branch)
	query := url.Values{"sha": {branch.SHA}, "per_page": {strconv.Itoa(n)}}
	var page []*gogithub.RepositoryCommit
	if _, err := c.get(ctx, doing, branch.Repo.path("commits")+"?"+query.Encode(), &page); err != nil {
		return nil, err
	}
	var all []Commit
	for _, one := range page {
		if !isSHA(one.GetSHA()) {
			return nil, fmt.Errorf("%s: %w", doing, otherObject("commits of", branch.SHA, one.GetSHA()))
		}
		all = append(all, Commit{SHA: one.GetSHA(), Committed: one.GetCommit().GetCommitter().GetDate().Time})
	}
	if len(all) == 0 || len(all) > n || all[0].SHA != branch.SHA {
		return nil, fmt.Errorf("%s: %w", doing, apierr.New(apierr.Transient,
			"unexpected answer: %d commits that do not begin with %s", len(all), branch.SHA))
	}
	return all, nil
}
