package unblockpulls

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/apierr"
	"salve/internal/prow/blocked"
	"salve/internal/prow/brief"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/openpull"
	"salve/kube"
	"salve/runbook"
)

// Discover looks at all open pull requests of the selection before a run is made. It gives the inputs with what was
// found; where no run is to be made the finding says how that ends, and why.
func Discover(ctx context.Context, world World, in Inputs) (Inputs, runbook.Finding) {
	in.Planned = nil
	u, err := newUnblocking(world, in)
	if err != nil {
		return in, runbook.Unknown(err)
	}
	seen, err := u.prow.work(ctx)
	if err != nil {
		return u.in, notDiscovered(err)
	}
	repositories, err := u.repositories()
	if err != nil {
		return u.in, runbook.Unknown(err)
	}
	parts := make([]found, len(repositories))
	err = kube.Parallel(ctx, len(repositories), func(ctx context.Context, i int) (err error) {
		parts[i], err = u.discoverIn(ctx, repositories[i], seen.jobs)
		return err
	})
	if err != nil {
		return u.in, notDiscovered(err)
	}
	var all found
	for _, part := range parts {
		all.add(part)
	}
	return all.inputs(u.in), all.finding()
}

// notDiscovered: where GitHub asks for a pause, waiting helps.
func notDiscovered(err error) runbook.Finding {
	if apierr.ClassOf(err) == apierr.Throttled {
		return runbook.No("not all pull requests could be read: %v", err).WithOutcome(runbook.Deferred)
	}
	return runbook.Unknownf("not all pull requests could be read: %v", err)
}

// found is what a look at pull requests found.
type found struct {
	looked                       int
	planned                      []Planned
	mend, unknown, waiting, left []string
}

func (f *found) add(other found) {
	f.looked += other.looked
	f.planned = append(f.planned, other.planned...)
	f.mend = append(f.mend, other.mend...)
	f.unknown = append(f.unknown, other.unknown...)
	f.waiting = append(f.waiting, other.waiting...)
	f.left = append(f.left, other.left...)
}

func (f *found) inputs(in Inputs) Inputs {
	in.Planned, in.Looked = f.planned, f.looked
	in.Mend, in.Unknown, in.Waiting, in.Left = brief.Some(f.mend), brief.Some(f.unknown), brief.Some(f.waiting),
		brief.Some(f.left)
	return in
}

// finding says whether there is something to run for.
func (f *found) finding() runbook.Finding {
	said := f.inputs(Inputs{}).found()
	switch {
	case len(f.planned) > 0:
		return runbook.Yes("%s", said)
	case len(f.mend) > 0:
		return runbook.No("%s", said).WithOutcome(runbook.NeedsAttention)
	case len(f.unknown) > 0:
		return runbook.Unknownf("%s", said)
	}
	return runbook.No("nothing to ask for: %s", said)
}

// found says what the discovery found.
func (in Inputs) found() string {
	said := []string{fmt.Sprintf("%d open pull requests were looked at", in.Looked)}
	if n := len(in.Planned); n > 0 {
		said = append(said, fmt.Sprintf("contexts to be asked for: %d", n))
	}
	for _, list := range []struct {
		what  string
		items []string
		hint  string
	}{
		{"protection is wrong, and nothing is started there", in.Mend, " (hint: salve run repair-branch-protection)"},
		{"unknown", in.Unknown, ""},
		{"Prow is at it", in.Waiting, ""},
		{"left alone", in.Left, ""},
	} {
		if len(list.items) > 0 {
			said = append(said, fmt.Sprintf("%s: %s%s", list.what, strings.Join(list.items, "; "), list.hint))
		}
	}
	return strings.Join(said, ". ")
}

// repositories are those of the selection, by name.
func (u *unblocking) repositories() ([]github.Repo, error) {
	names := u.in.Repos
	if len(u.in.Pulls) > 0 {
		names = nil
		for _, pull := range u.in.Pulls {
			repository, _, _ := strings.Cut(pull, "#")
			names = append(names, repository)
		}
	}
	named := len(names) > 0
	if !named {
		names = slices.Collect(maps.Keys(u.config.Presubmits))
	}
	var all []github.Repo
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		repo, err := github.ParseRepo(name)
		switch {
		case err != nil && named:
			return nil, err
		case err != nil: // of another host than GitHub, such as a Gerrit
			continue
		}
		all = append(all, repo)
	}
	return all, nil
}

// discoverIn looks at the pull requests of one repository. One that was not named and can't be read is unknown; that of
// one which was named is an error.
func (u *unblocking) discoverIn(ctx context.Context, repo github.Repo, jobs *blocked.Jobs) (found, error) {
	pulls, err := u.github.PullRequests(ctx, repo, "")
	named := len(u.in.Repos)+len(u.in.Pulls) > 0
	switch {
	case err != nil && (named || ctx.Err() != nil || apierr.ClassOf(err) == apierr.Throttled):
		return found{}, err
	case err != nil:
		return found{unknown: []string{fmt.Sprintf("%s: %v", repo, err)}}, nil
	}
	look := &look{unblocking: u, jobs: jobs, required: map[string][]string{}, wrong: map[string]bool{}}
	open := map[int]bool{}
	for _, pull := range pulls {
		open[pull.Number] = true
		if !u.in.selects(repo.String(), pull.Number) {
			continue
		}
		look.found.looked++
		if err := look.at(ctx, pull); err != nil {
			return found{}, err
		}
	}
	for _, name := range u.in.Pulls {
		if of, number, err := parsePull(name); err == nil && strings.EqualFold(of.String(), repo.String()) && !open[number] {
			look.found.left = append(look.found.left, name+": not among the open pull requests")
		}
	}
	return look.clean(), nil
}

// look is a look at the pull requests of one repository.
type look struct {
	*unblocking
	jobs *blocked.Jobs
	// required are the contexts by branch, wrong the branches whose protection is.
	required map[string][]string
	wrong    map[string]bool
	found    found
}

// clean leaves the jobs alone of branches whose protection is wrong: what a run there would free, the repair frees.
func (l *look) clean() found {
	kept := l.found.planned[:0:0]
	for _, planned := range l.found.planned {
		if planned.Do == blocked.Trigger && l.wrong[planned.Base] {
			l.found.left = append(l.found.left, fmt.Sprintf("%s %q: the protection of %s comes first", planned.pull(),
				planned.Context, planned.Base))
			continue
		}
		kept = append(kept, planned)
	}
	l.found.planned = kept
	return l.found
}

// at looks at one pull request. An error of GitHub's makes it unknown; that GitHub asks for a pause ends the look.
func (l *look) at(ctx context.Context, pull github.PullRequest) error {
	branch := config.Branch{Org: pull.Repo.Owner, Repo: pull.Repo.Name, Name: pull.Base}
	required, known := l.required[pull.Base]
	if !known {
		var err error
		if required, err = l.branches.Required(ctx, branch); err != nil {
			return l.unseen(ctx, fmt.Sprintf("%s#%d", pull.Repo, pull.Number), err)
		}
		l.required[pull.Base] = required
	}
	if len(required) == 0 {
		return nil
	}
	facts := &pullFacts{Pull: l.pulls.Look(pull), github: l.github, pull: pull}
	for _, context := range required {
		question := l.pulls.Question(branch, pull.HeadSHA, context)
		question.Jobs = l.jobs
		question, decision, err := facts.Decide(ctx, question)
		if err != nil {
			return err
		}
		if err := l.sort(ctx, question, decision, facts); err != nil {
			return err
		}
	}
	return nil
}

func (l *look) unseen(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil || apierr.ClassOf(err) == apierr.Throttled {
		return err
	}
	l.found.unknown = append(l.found.unknown, fmt.Sprintf("%s: %v", what, err))
	return nil
}

// sort puts a decision where it belongs.
func (l *look) sort(ctx context.Context, q blocked.Question, decision blocked.Decision, facts *pullFacts) error {
	what := fmt.Sprintf("%s#%d %q: %s", q.Branch.Repository(), q.Pull.Number, q.Context, decision.Reason)
	switch decision.Do {
	case blocked.Nothing:
	case blocked.Leave:
		l.found.left = append(l.found.left, what)
	case blocked.Wait:
		l.found.waiting = append(l.found.waiting, what)
	case blocked.Mend:
		l.wrong[q.Branch.Name] = true
		if q.Configured {
			what += "; the configuration requires it too, and has to be corrected first"
		}
		l.found.mend = append(l.found.mend, what)
	case blocked.Unknown:
		l.found.unknown = append(l.found.unknown, what)
	case blocked.Trigger:
		comments, err := facts.comments(ctx)
		if err != nil {
			return l.unseen(ctx, fmt.Sprintf("comments of %s#%d", q.Branch.Repository(), q.Pull.Number), err)
		}
		accounts, err := l.accounts(ctx, nil)
		if err != nil {
			return l.unseen(ctx, "who the token speaks for", err)
		}
		if made := markedBy(comments, accounts, q.Head, q.Context); made != nil {
			l.found.left = append(l.found.left, fmt.Sprintf("%s; it was asked for by %s at %s, and nothing came of it", what,
				made.Author, made.Created.UTC().Format("2006-01-02 15:04 UTC")))
			return nil
		}
		l.plan(q, decision, decision.Job.Name)
	case blocked.Report:
		l.plan(q, decision, decision.ProwJob.Name)
	}
	return nil
}

func (l *look) plan(q blocked.Question, decision blocked.Decision, job string) {
	l.found.planned = append(l.found.planned, Planned{
		Repository: q.Branch.Repository(), Number: q.Pull.Number, Base: q.Branch.Name, Head: q.Head, Context: q.Context,
		Do: decision.Do, Job: job, There: q.There(),
	})
}

// pullFacts are what is read of one pull request, each at most once, and only what a decision needs.
type pullFacts struct {
	*openpull.Pull
	github *github.Client
	pull   github.PullRequest
	said   []github.Comment
}

func (f *pullFacts) comments(ctx context.Context) ([]github.Comment, error) {
	if f.said == nil {
		said, err := f.github.Comments(ctx, f.pull.Repo, f.pull.Number)
		if err != nil {
			return nil, err
		}
		f.said = append([]github.Comment{}, said...)
	}
	return f.said, nil
}
