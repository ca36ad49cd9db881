package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"salve/internal/diagnostic"
	"salve/internal/prow/blocked"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
)

// GitHub is what GitHub says of the repositories that the configuration is about.
type GitHub struct {
	// Failed is why GitHub could not be asked at all; all else is then empty.
	Failed string
	// Branches are those that exist, but for repositories that branchprotector leaves
	// alone: archived ones and security forks.
	Branches map[config.Branch]LiveBranch
	// Unread are repositories and organizations whose branches could not be listed, with
	// the reason.
	Unread map[string]string
	// Heads are what was reported on branches that Suspects named.
	Heads map[config.Branch]Heads
	// Pulls are open pull requests for branches that Awaited named. PullsUnread are branches
	// and pull requests that could not be read, with the reason.
	Pulls       []PullRequest
	PullsUnread map[string]string
	// Waiting are what open pull requests for branches that Waited named lack, or may lack, and InPool those of them
	// that Tide says it would merge. OpenUnread are repositories and pull requests that could not be read, or are too
	// many, with the reason.
	Waiting    []blocked.Question
	InPool     []InPool
	OpenUnread map[string]string
}

// LiveBranch is a branch as GitHub has it.
type LiveBranch struct {
	// Protection is the classic one. Its branch is always there; the rest counts where
	// Failed is empty.
	Protection github.Protection
	Failed     string
	// Rules are those of rulesets; they count where RulesFailed is empty.
	Rules       []github.Rule
	RulesFailed string
}

// required are the contexts that classic protection requires; nil where nothing says so. GitHub
// names them with the branch itself to whoever may not see its protection. That it names none
// there proves nothing.
func (b LiveBranch) required() *github.StatusChecks {
	if b.Failed == "" {
		return b.Protection.Settings.StatusChecks
	}
	if summary := b.Protection.Branch.Required; summary != nil && len(summary.Checks) > 0 {
		return summary
	}
	return nil
}

// Heads are what was reported on the latest commits of a branch, and on the heads of
// open pull requests for it.
type Heads struct {
	// Commits and Pulls are how many were looked at. Where everything that was looked for
	// was seen on the first of them, the others were not.
	Commits, Pulls int
	// Reported is how many of them have any report.
	Reported int
	// Seen are the contexts, each with where it was seen.
	Seen map[string]string
	// Failed is why not all of them could be read. What was seen was seen.
	Failed string
}

// Reporter says where a context was seen that was looked for; empty where nobody reports it. The
// error is why that is not known.
func (h Heads) Reporter(context string) (string, error) {
	if where := h.Seen[context]; where != "" {
		return where, nil
	}
	if reason := h.unsure(); reason != "" {
		return "", errors.New(reason)
	}
	return "", nil
}

// unsure is why what was not seen may be there all the same; empty where it is not.
func (h Heads) unsure() string {
	switch {
	case h.Failed != "":
		return h.Failed
	case h.Commits < LeastCommits:
		return fmt.Sprintf("only %d of %d commits to look at", h.Commits, LeastCommits)
	case h.Reported == 0:
		return "nothing at all is reported on its commits, nor on open pull requests"
	}
	return ""
}

// History is what branches required when they were looked at.
type History struct {
	// Since is when the first look was.
	Since time.Time
	// Changes are by branch, the oldest first: one that says the same as the one before is
	// left out.
	Changes map[config.Branch][]Change
}

// Change is the first look at what a branch requires since then.
type Change struct {
	At time.Time
	// Contexts are sorted.
	Contexts []string
}

func liveGitHub(f *facts) finding.Lack {
	switch {
	case f.GitHub == nil:
		return notGiven("--live --github")
	case f.GitHub.Failed != "":
		return failed("GitHub could not be asked: %s", f.GitHub.Failed)
	}
	return nothing()
}

// both is what two parts of a rule lacked.
func both(one, other finding.Lack) finding.Lack {
	switch {
	case one == nothing() || one == other:
		return other
	case other == nothing():
		return one
	}
	return finding.Lack{Reason: one.Reason + "; " + other.Reason, NotGiven: one.NotGiven && other.NotGiven}
}

// comparer compares with the configuration; what Prow once produced is known where
// there is a base.
func (f *facts) comparer() protection.Comparer {
	comparer := protection.Comparer{Config: f.now.Config}
	if f.base != nil {
		comparer.Base = f.base.Config
	}
	return comparer
}

// liveBranches are those of GitHub, sorted.
func (f *facts) liveBranches() []config.Branch {
	return slices.SortedFunc(maps.Keys(f.GitHub.Branches), func(a, b config.Branch) int {
		return strings.Compare(a.String(), b.String())
	})
}

// gaps are what could not be read, by the reason.
type gaps struct {
	reasons []string
	what    map[string][]string
}

func (g *gaps) add(what, reason string) {
	if g.what == nil {
		g.what = map[string][]string{}
	}
	if g.what[reason] == nil {
		g.reasons = append(g.reasons, reason)
	}
	if !slices.Contains(g.what[reason], what) {
		g.what[reason] = append(g.what[reason], what)
	}
}

// addAll adds what has a reason of its own.
func (g *gaps) addAll(reasons map[string]string) {
	for _, what := range slices.Sorted(maps.Keys(reasons)) {
		g.add(what, reasons[what])
	}
}

// lack says a few of them.
func (g *gaps) lack() finding.Lack {
	const shown = 3
	var said []string
	for i, reason := range g.reasons {
		if i == shown {
			said = append(said, fmt.Sprintf("and %d other reasons", len(g.reasons)-shown))
			break
		}
		names := g.what[reason]
		if more := len(names) - shown; more > 0 {
			names = append(slices.Clone(names[:shown]), fmt.Sprintf("and %d more", more))
		}
		said = append(said, strings.Join(names, ", ")+": "+reason)
	}
	return finding.Lack{Reason: bounded(diagnostic.Printable(strings.Join(said, "; ")))}
}

// bounded cuts a text of others: a protection may name thousands of contexts.
func bounded(text string) string {
	const most = 1000
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}
