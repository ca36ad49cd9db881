package check

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// Pattern is a check that others than Prow report, as path.Match reads it.
type Pattern struct {
	Text     string
	Position diagnostic.Position
}

// contextOfTide is the status that Tide itself reports.
const contextOfTide = "tide"

// ghosts is B2 as a whole: what files tell, and what GitHub does. What GitHub decides is not
// told from files too.
func ghosts(f *facts) (finding.List, finding.Lack) {
	ghosts := f.ghostContexts()
	if lack := liveGitHub(f); lack != nothing() {
		return f.fileGhosts(ghosts), lack
	}
	found, undecided, lack := absent(f)
	ghosts = slices.DeleteFunc(ghosts, func(g *ghost) bool { return !undecided[g.context] && !f.unreadOf(g) })
	return append(found, f.fileGhosts(ghosts)...), lack
}

// unreadOf is whether a repository that requires the context could not be read.
func (f *facts) unreadOf(g *ghost) bool {
	return slices.ContainsFunc(g.repositories, func(repository string) bool { return f.GitHub.Unread[repository] != "" })
}

// liveGhosts is B2 by GitHub alone.
func liveGhosts(f *facts) (finding.List, finding.Lack) {
	found, _, lack := absent(f)
	return found, lack
}

// fileGhosts is B2 as far as files tell: a required context that no job of the repository
// reports. It may be a check of somebody else's, which files don't show; so without a
// list of those all of them are one UNKNOWN. What files do show is WARN: a context that
// is on no list where there is one, that jobs of other repositories report, or that is
// nearly that of a job.
func (f *facts) fileGhosts(ghosts []*ghost) finding.List {
	var found finding.List
	var unsure []*ghost
	for _, g := range ghosts {
		if finding, sure := f.judgeGhost(g); sure {
			found = append(found, finding...)
			continue
		}
		unsure = append(unsure, g)
	}
	if len(unsure) == 0 {
		return found
	}
	var evidence []string
	for _, g := range unsure {
		evidence = append(evidence, fmt.Sprintf("%s: required on %s (%s)", g.context, strings.Join(few(g.repositories), ", "),
			g.origin.Position))
	}
	return append(found, finding.Finding{Severity: finding.Unknown, Position: unsure[0].origin.Position,
		Subject: finding.Subject{Detail: "external checks"},
		Message: count(len(unsure), "required context is", "required contexts are") +
			" of no job of Prow's: checks of others, or of nobody",
		Evidence: evidence, Mend: "list the checks of others in a file, and name it with --external-checks"})
}

// ghost is a context, with the repositories that require it and have no job for it.
type ghost struct {
	context      string
	origin       config.Origin
	repositories []string
	// inRepo: some of them may have jobs in a .prow.yaml.
	inRepo bool
}

func (f *facts) ghostContexts() []*ghost {
	by := map[string]*ghost{}
	f.now.eachRequired(func(b branch, context string, origins []config.Origin, _ config.Policy) {
		if supply, _ := f.now.supplyOf(b.Branch, context); supply != supplyNone || f.known(b.Branch, context) {
			return
		}
		g := by[context]
		if g == nil {
			g = &ghost{context: context, origin: origins[0]}
			by[context] = g
		}
		g.inRepo = g.inRepo || f.now.InRepoEnabled(b.Org, b.Repo)
		if !slices.Contains(g.repositories, b.Repository()) {
			g.repositories = append(g.repositories, b.Repository())
		}
	})
	var ghosts []*ghost
	for _, context := range slices.Sorted(maps.Keys(by)) {
		ghosts = append(ghosts, by[context])
	}
	return ghosts
}

// judgeGhost says what files show of a ghost; sure is false where they show nothing.
func (f *facts) judgeGhost(g *ghost) (found finding.List, sure bool) {
	made := finding.Finding{Severity: finding.Warn, Position: g.origin.Position,
		Subject:  finding.Subject{Context: g.context},
		Evidence: []string{"required on " + strings.Join(few(g.repositories), ", ")},
		Mend:     "correct or remove the context; if another system reports it, add it to --external-checks"}
	near, elsewhere := f.similar(g)
	switch {
	case g.inRepo:
		return nil, f.Options.External != nil // a .prow.yaml may have the job
	case len(elsewhere) > 0:
		made.Message = fmt.Sprintf("context %q is required where no job reports it; jobs of other repositories do", g.context)
		made.Evidence = append(made.Evidence, "reported on "+strings.Join(few(elsewhere), ", "))
		made.Mend = "require it in the repositories that have the job only: lists of contexts are inherited, never shortened"
	case near != "":
		made.Message = fmt.Sprintf("context %q is required, and no job reports it; %s", g.context, near)
	case f.Options.External != nil:
		made.Message = fmt.Sprintf("context %q is required; no job reports it, and it is not among the external checks",
			g.context)
	default:
		return nil, false
	}
	return finding.List{made}, true
}

// similar looks among the jobs for the context in other repositories, and for a context
// of the same repositories that it may be meant to be.
func (f *facts) similar(g *ghost) (near string, elsewhere []string) {
	var own []string
	for _, repository := range slices.Sorted(maps.Keys(f.now.Presubmits)) {
		for _, job := range f.now.Presubmits[repository] {
			switch {
			case slices.Contains(g.repositories, repository):
				own = append(own, job.Context.Value)
			case job.Context.Value == g.context && !slices.Contains(elsewhere, repository):
				elsewhere = append(elsewhere, repository)
			}
		}
	}
	// Short names are near each other by chance.
	if len(g.context) < 8 {
		own = slices.DeleteFunc(own, func(context string) bool { return !strings.EqualFold(context, g.context) })
	}
	return diagnostic.DidYouMean(g.context, own), elsewhere
}

// known is whether others than Prow's jobs are known to report a context.
func (f *facts) known(b config.Branch, context string) bool {
	return f.external(context) || context == contextOfTide && f.now.tideReports(b)
}

func (f *facts) external(context string) bool {
	return slices.ContainsFunc(f.Options.External, func(p Pattern) bool {
		matched, err := path.Match(p.Text, context)
		return p.Text == context || err == nil && matched
	})
}

// tideReports is whether Tide sets its own status on pull requests of a repository.
func (v *view) tideReports(b config.Branch) bool {
	return slices.ContainsFunc(v.Tide.Queries, func(q config.TideQuery) bool {
		return slices.Contains(q.Repos, b.Repository()) ||
			slices.Contains(q.Orgs, b.Org) && !slices.Contains(q.ExcludedRepos, b.Repository())
	})
}
