package unblockpulls

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"salve/internal/prow/blocked"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// question is what is known without asking GitHub about a context on a head.
func (u *unblocking) question(branch config.Branch, head, context string) blocked.Question {
	return blocked.Question{
		Branch: branch, Context: context, Head: head, Presubmits: u.config.Presubmits[branch.Repository()],
		InRepo: u.config.InRepoEnabled(branch.Org, branch.Repo), Now: u.prow.cluster.Clock.Now(),
		Configured: u.configured(branch, context),
	}
}

// configured tells whether the configuration requires a context. Where its policy can't be computed it requires none:
// branchprotector leaves such a branch as it is.
func (u *unblocking) configured(branch config.Branch, context string) bool {
	policy, err := u.config.Policy(branch)
	return err == nil && policy.Protect.Set && policy.Protect.Value &&
		slices.Contains(policy.Contexts().Values(), context)
}

// reporters remembers who reported on the last commits of branches.
type reporters struct {
	lock     sync.Mutex
	byBranch map[config.Branch]map[string]string
}

// reporter says who else than a job of the configuration reports a context; empty when nobody is known to.
func (u *unblocking) reporter(ctx context.Context, branch config.Branch, name string) (string, error) {
	if slices.Contains(u.in.External, name) {
		return "named by --external-context", nil
	}
	if u.producer(branch, name) != nil {
		return "", nil
	}
	u.reported.lock.Lock()
	defer u.reported.lock.Unlock()
	if known, found := u.reported.byBranch[branch]; found {
		return known[name], nil
	}
	by, _, err := u.branches.Reported(ctx, branch)
	if err != nil {
		return "", err
	}
	if u.reported.byBranch == nil {
		u.reported.byBranch = map[config.Branch]map[string]string{}
	}
	u.reported.byBranch[branch] = by
	return by[name], nil
}

// producer is the job of the configuration that has a context on a branch; nil when none has.
func (u *unblocking) producer(branch config.Branch, context string) *config.Job {
	for _, job := range u.config.Producers(branch.Org, branch.Repo, context) {
		if job.RunsOn(branch.Name) {
			return job
		}
	}
	return nil
}

// marker is what a comment of the runbook carries, unseen by who reads it: for which context on which head it was made.
// A name may hold anything, and two hyphens would end it.
func marker(head, context string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(context), "-", "%2D")
	return fmt.Sprintf("<!-- salve %s head=%s context=%s -->", Name, head, escaped)
}

// markedBy finds the comment that was made for a context on a head, by whomever: who forges one is left alone.
func markedBy(comments []github.Comment, head, context string) *github.Comment {
	mark := marker(head, context)
	at := slices.IndexFunc(comments, func(comment github.Comment) bool { return strings.Contains(comment.Body, mark) })
	if at < 0 {
		return nil
	}
	return &comments[at]
}
