package openpull

import (
	"context"
	"slices"

	"salve/internal/clock"
	"salve/internal/prow/blocked"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// GitHub is what is asked of one: *github.Client, or one that is asked in another way.
type GitHub interface {
	Reports(ctx context.Context, repo github.Repo, sha string) (github.HeadReports, error)
	PullRequest(ctx context.Context, repo github.Repo, number int) (github.PullRequest, error)
	ChangedFiles(ctx context.Context, repo github.Repo, number int) (github.Files, error)
}

// Reader reads open pull requests of an instance.
type Reader struct {
	GitHub GitHub
	Config *config.Config
	Clock  clock.Clock
	// Reporter says who else than a job of the configuration reports a context; empty when nobody is known to. It is
	// asked about contexts alone that no job of the configuration has on that branch.
	Reporter func(ctx context.Context, branch config.Branch, context string) (string, error)
}

// Question is what is known without asking GitHub about a context on a head.
func (r *Reader) Question(branch config.Branch, head, context string) blocked.Question {
	return blocked.Question{
		Branch: branch, Context: context, Head: head, Presubmits: r.Config.Presubmits[branch.Repository()],
		InRepo: r.Config.InRepoEnabled(branch.Org, branch.Repo), Now: r.Clock.Now(),
		Configured: r.configured(branch, context),
	}
}

// configured tells whether the configuration requires a context. Where its policy can't be computed it requires none:
// branchprotector leaves such a branch as it is.
func (r *Reader) configured(branch config.Branch, context string) bool {
	policy, err := r.Config.Policy(branch)
	return err == nil && policy.Protect.Set && policy.Protect.Value &&
		slices.Contains(policy.Contexts().Values(), context)
}

// Producer is the job of the configuration that has a context on a branch; nil when none has.
func (r *Reader) Producer(branch config.Branch, context string) *config.Job {
	for _, job := range r.Config.Producers(branch.Org, branch.Repo, context) {
		if job.RunsOn(branch.Name) {
			return job
		}
	}
	return nil
}
