package drift

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"salve/internal/prow/blocked"
	"salve/internal/prow/check"
	"salve/internal/prow/cluster"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/openpull"
	"salve/kube"
)

// open looks at the open pull requests for branches that require contexts: at what they lack where the ProwJobs are to
// be seen, and at those that Tide would merge. It takes the repositories in no order, and of each the newest first.
func (r *reading) open(ctx context.Context, facts check.Facts) {
	waited := check.Waited(facts)
	pulls := r.openOf(ctx, waited)
	look := &look{reading: r, waited: waited, suspects: check.Suspects(facts), elsewhere: map[suspect]check.Heads{}}
	look.pulls = &openpull.Reader{GitHub: patient{r}, Config: facts.Now.Partial(), Clock: r.Clock,
		Reporter: look.reporter}
	if len(pulls) > 0 {
		look.jobs = r.jobsBefore(ctx)
	}
	each(ctx, r, pulls, look.at, func(pull github.PullRequest, reason string) { r.unopened(named(pull), reason) })
	if len(r.seen.Waiting) > 0 && look.jobs.Unread() == nil {
		// A job that was started, or has ended, while the statuses were read is none that is missing: what is to be told
		// has to hold by the ProwJobs of before and by those of after.
		after := r.prowJobs(ctx)
		for i := range r.seen.Waiting {
			r.seen.Waiting[i].Jobs = after
		}
	}
	slices.SortFunc(r.seen.Waiting, func(a, b blocked.Question) int {
		return cmp.Or(strings.Compare(a.Branch.String(), b.Branch.String()), a.Pull.Number-b.Pull.Number,
			strings.Compare(a.Context, b.Context))
	})
	slices.SortFunc(r.seen.InPool, func(a, b check.InPool) int {
		return cmp.Or(strings.Compare(a.Pull.Repo.String(), b.Pull.Repo.String()), a.Pull.Number-b.Pull.Number)
	})
}

func (r *reading) unopened(what, reason string) {
	r.note(func(seen *check.GitHub) { seen.OpenUnread[what] = reason })
}

func named(pull github.PullRequest) string { return fmt.Sprintf("%s#%d", pull.Repo, pull.Number) }

func baseOf(pull github.PullRequest) config.Branch {
	return config.Branch{Org: pull.Repo.Owner, Repo: pull.Repo.Name, Name: pull.Base}
}

// openOf lists the open pull requests for branches, the newest of each repository. Drafts wait for their authors.
func (r *reading) openOf(ctx context.Context, waited map[config.Branch][]string) []github.PullRequest {
	repositories := map[github.Repo]bool{}
	for branch := range waited {
		repositories[repoOf(branch)] = true
	}
	var all []github.Repo
	for repo := range repositories {
		all = append(all, repo)
	}
	var open []github.PullRequest
	unread := func(repo github.Repo, reason string) { r.unopened("pull requests of "+repo.String(), reason) }
	each(ctx, r, all, func(ctx context.Context, repo github.Repo) {
		listed, err := r.openFor(ctx, repo, "")
		if err != nil {
			unread(repo, r.reason(err))
			return
		}
		listed = slices.DeleteFunc(listed, func(pull github.PullRequest) bool {
			_, looked := waited[baseOf(pull)]
			return pull.Draft || !looked
		})
		slices.Reverse(listed)
		if n := len(listed); n > check.MostOpen {
			listed = listed[:check.MostOpen]
			unread(repo, fmt.Sprintf("only the newest %d of %d that are open are looked at", check.MostOpen, n))
		}
		r.note(func(*check.GitHub) { open = append(open, listed...) })
	}, unread)
	return open
}

// look is one at open pull requests.
type look struct {
	*reading
	pulls  *openpull.Reader
	waited map[config.Branch][]string
	// jobs are the ProwJobs as they were before; nil where Prow's own cluster is not given.
	jobs *blocked.Jobs

	suspects map[config.Branch][]string
	// elsewhere is what was seen of contexts that are no suspects: a job has them, on other branches.
	searching sync.Mutex
	elsewhere map[suspect]check.Heads
}

// suspect is a context on a branch.
type suspect struct {
	config.Branch
	context string
}

// at looks at one pull request.
func (l *look) at(ctx context.Context, pull github.PullRequest) {
	read := l.pulls.Look(pull)
	waiting, err := l.waiting(ctx, read, pull)
	if err != nil {
		l.unopened(named(pull), l.reason(err))
		return
	}
	reports, err := read.Reports(ctx)
	if err == nil && blocked.InPool(reports) {
		pull, err = read.Whole(ctx)
	}
	if err != nil {
		l.unopened(named(pull), l.reason(err))
		return
	}
	l.note(func(seen *check.GitHub) {
		seen.Waiting = append(seen.Waiting, waiting...)
		if blocked.InPool(reports) {
			seen.InPool = append(seen.InPool, check.InPool{Pull: pull, Reports: reports})
		}
	})
}

// waiting are the questions about a pull request that are not answered by Prow being at it, or by others having to do
// something first.
func (l *look) waiting(ctx context.Context, read *openpull.Pull, pull github.PullRequest) ([]blocked.Question, error) {
	if l.jobs == nil {
		return nil, nil
	}
	var waiting []blocked.Question
	for _, name := range l.waited[baseOf(pull)] {
		question := l.pulls.Question(baseOf(pull), pull.HeadSHA, name)
		question.Jobs = l.jobs
		question, decision, err := read.Decide(ctx, question)
		if err != nil {
			return nil, err
		}
		if slices.Contains([]blocked.Do{blocked.Trigger, blocked.Mend, blocked.Unknown}, decision.Do) {
			waiting = append(waiting, question)
		}
	}
	return waiting, nil
}

// reporter says where a context was seen that no job has on a branch; empty where nobody reports it.
func (l *look) reporter(ctx context.Context, branch config.Branch, name string) (string, error) {
	if slices.Contains(l.suspects[branch], name) {
		var heads check.Heads
		l.note(func(seen *check.GitHub) { heads = seen.Heads[branch] })
		return heads.Reporter(name)
	}
	l.searching.Lock()
	defer l.searching.Unlock()
	of := suspect{branch, name}
	heads, known := l.elsewhere[of]
	if !known {
		heads = l.headsOf(ctx, suspected{branch, []string{name}})
		l.elsewhere[of] = heads
	}
	return heads.Reporter(name)
}

// patient is a GitHub whose short pauses are waited out.
type patient struct{ *reading }

// Reports are those of one commit.
func (p patient) Reports(ctx context.Context, repo github.Repo, sha string) (github.HeadReports, error) {
	return p.reports(ctx, repo, sha)
}

// PullRequest is one with its merge state.
func (p patient) PullRequest(ctx context.Context, repo github.Repo, number int) (github.PullRequest, error) {
	return patiently(ctx, p.reading.Reader, func() (github.PullRequest, error) {
		return p.GitHub.PullRequest(ctx, repo, number)
	})
}

// ChangedFiles are those of a pull request.
func (p patient) ChangedFiles(ctx context.Context, repo github.Repo, number int) (github.Files, error) {
	return patiently(ctx, p.reading.Reader, func() (github.Files, error) {
		return p.GitHub.ChangedFiles(ctx, repo, number)
	})
}

// readJobs reads the ProwJobs of an instance. What can't be read says so.
func readJobs(ctx context.Context, prow *kube.Cluster, namespace string) *blocked.Jobs {
	read, err := cluster.ReadJobs(ctx, prow, []string{namespace})
	if err != nil {
		read = cluster.Reading[cluster.Job]{Coverage: cluster.Coverage{Refused: err}}
	}
	return blocked.NewJobs(namespace, read)
}
