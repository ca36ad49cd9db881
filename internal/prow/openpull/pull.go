package openpull

import (
	"context"
	"errors"

	"salve/internal/apierr"
	"salve/internal/prow/blocked"
	"salve/internal/prow/github"
)

// Pull is what is read of one pull request, each at most once, and only what is asked for. It is not safe for
// concurrent use.
type Pull struct {
	*Reader
	pull    github.PullRequest
	reports *github.HeadReports
	whole   bool
	files   *github.Files
	unseen  blocked.Unseen
}

// Look begins with a pull request as a list shows it. It makes no call.
func (r *Reader) Look(pull github.PullRequest) *Pull { return &Pull{Reader: r, pull: pull} }

// Decide reads what a question about the pull request needs, the cheap first, and gives the question with it. The error
// is that GitHub asks for a pause, or that ctx is done; what else can't be read is unseen to the decision.
func (p *Pull) Decide(ctx context.Context, q blocked.Question) (blocked.Question, blocked.Decision, error) {
	if p.unseen.Reporter = nil; p.Producer(q.Branch, q.Context) == nil {
		p.unseen.Reporter = errNotAsked // as long as it was not: that nobody else reports it is no default
	}
	reads := []func(context.Context, blocked.Question) error{
		p.readReports, p.readReporter(&q), p.readWhole, p.readFiles,
	}
	for _, read := range reads {
		err := read(ctx, q)
		if err != nil && (ctx.Err() != nil || apierr.ClassOf(err) == apierr.Throttled) {
			return q, blocked.Decision{}, err
		}
		q.Pull, q.Files, q.Unseen = p.pull, p.files, p.unseen
		if p.reports != nil {
			q.Reports = *p.reports
		}
		if decision := blocked.Decide(q); decision.Do != blocked.Unknown {
			return q, decision, nil
		}
	}
	return q, blocked.Decide(q), nil
}

// Reports are those on the head that the list named.
func (p *Pull) Reports(ctx context.Context) (github.HeadReports, error) {
	_ = p.readReports(ctx, blocked.Question{Head: p.pull.HeadSHA}) // its error is kept, whenever it was read
	if p.unseen.Reports != nil {
		return github.HeadReports{}, p.unseen.Reports
	}
	return *p.reports, nil
}

// Whole is the pull request with its merge state.
func (p *Pull) Whole(ctx context.Context) (github.PullRequest, error) {
	_ = p.readWhole(ctx, blocked.Question{}) // as above
	if p.unseen.Pull != nil {
		return github.PullRequest{}, p.unseen.Pull
	}
	return p.pull, nil
}

func (p *Pull) readReports(ctx context.Context, q blocked.Question) error {
	if p.reports != nil || p.unseen.Reports != nil {
		return nil
	}
	reports, err := p.GitHub.Reports(ctx, p.pull.Repo, q.Head)
	if p.unseen.Reports = err; err == nil {
		p.reports = &reports
	}
	return err
}

var errNotAsked = errors.New("nobody was asked yet")

// readReporter asks who else reports a context that no job has.
func (p *Pull) readReporter(into *blocked.Question) func(context.Context, blocked.Question) error {
	return func(ctx context.Context, q blocked.Question) (err error) {
		if p.Producer(q.Branch, q.Context) != nil {
			return nil
		}
		into.ReportedBy, err = p.Reporter(ctx, q.Branch, q.Context)
		p.unseen.Reporter = err
		return err
	}
}

// readWhole reads the pull request with its merge state.
func (p *Pull) readWhole(ctx context.Context, _ blocked.Question) error {
	if p.whole {
		return nil
	}
	pull, err := p.GitHub.PullRequest(ctx, p.pull.Repo, p.pull.Number)
	p.whole = true
	if p.unseen.Pull = err; err == nil {
		p.pull = pull
	}
	return err
}

func (p *Pull) readFiles(ctx context.Context, q blocked.Question) error {
	job := p.Producer(q.Branch, q.Context)
	if p.files != nil || p.unseen.Files != nil || job == nil || !job.Conditional() {
		return nil
	}
	files, err := p.GitHub.ChangedFiles(ctx, p.pull.Repo, p.pull.Number)
	if p.unseen.Files = err; err == nil {
		p.files = &files
	}
	return err
}
