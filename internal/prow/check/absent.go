package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
)

// LeastCommits is how many commits of a branch have to lack a context before it counts as
// one that nobody reports.
const LeastCommits = 20

// suspect is a required context that no job of Prow's has.
type suspect struct {
	branch  config.Branch
	context string
	// by says what requires it.
	by []string
}

// byConfiguration is who requires what the configuration does.
const byConfiguration = "the configuration"

// suspects are the contexts that the configuration, a protection or a ruleset requires and
// that no job of the repository has, but for those that others are known to report.
func (f *facts) suspects() []suspect {
	var all []suspect
	for _, b := range f.liveBranches() {
		live, by := f.GitHub.Branches[b], map[string][]string{}
		add := func(required *github.StatusChecks, who string) {
			for _, context := range required.Contexts() {
				by[context] = append(by[context], who)
			}
		}
		if contexts, protected := f.now.required(b); protected {
			for _, context := range contexts.Values() {
				by[context] = append(by[context], byConfiguration)
			}
		}
		add(live.required(), "GitHub")
		if live.RulesFailed == "" {
			for _, rule := range live.Rules {
				add(rule.StatusChecks, fmt.Sprintf("ruleset %d", rule.Ruleset.ID))
			}
		}
		for _, context := range slices.Sorted(maps.Keys(by)) {
			if f.nobodys(b, context) {
				all = append(all, suspect{b, context, by[context]})
			}
		}
	}
	return all
}

// nobodys is whether nobody is known to report a context on a branch. One that a job had
// before is for B4 to tell where branchprotector leaves the branch alone.
func (f *facts) nobodys(b config.Branch, context string) bool {
	if supply, _ := f.now.supplyOf(b, context); supply != supplyNone || f.known(b, context) {
		return false
	}
	leftover := f.now.decide(b).Action == config.Leave && slices.Contains(f.comparer().Produced(b), context)
	return !leftover
}

// Suspects are the contexts to look for on the latest commits of branches: GitHub's
// branches have to be among the facts.
func Suspects(given Facts) map[config.Branch][]string {
	f := derive(given)
	if f.now == nil || liveGitHub(f) != nothing() {
		return nil
	}
	suspects := map[config.Branch][]string{}
	for _, s := range f.suspects() {
		suspects[s.branch] = append(suspects[s.branch], s.context)
	}
	return suspects
}

// absent is B2 as GitHub shows it: a suspect that was on none of the latest commits of the
// branch, nor on the head of an open pull request for it. ALERT: nothing can be merged
// there. Where a merge makes a new commit, statuses stay behind on the pull request's; so
// where nothing at all was reported, nothing is concluded. Undecided are the contexts of
// which it is not known.
func absent(f *facts) (found finding.List, undecided map[string]bool, _ finding.Lack) {
	unread := &gaps{}
	unread.addAll(f.GitHub.Unread)
	for _, b := range f.liveBranches() {
		live := f.GitHub.Branches[b]
		if live.Failed != "" {
			unread.add(b.String(), live.Failed)
		}
		if live.RulesFailed != "" {
			unread.add("rulesets of "+b.String(), live.RulesFailed)
		}
	}
	undecided = map[string]bool{}
	lines := map[finding.Subject]*branchLines{}
	for _, s := range f.suspects() {
		heads, looked := f.GitHub.Heads[s.branch]
		if heads.Seen[s.context] != "" {
			continue
		}
		if reason := f.undecided(s, heads, looked); reason != "" {
			undecided[s.context] = true
			unread.add(fmt.Sprintf("context %q on %s", s.context, s.branch), reason)
			continue
		}
		made := f.absentFinding(s)
		if lines[made.Subject] == nil {
			lines[made.Subject] = &branchLines{}
			found = append(found, made)
		}
		lines[made.Subject].add(fmt.Sprintf("on none of the last %d commits, nor of %s; required by %s", heads.Commits,
			count(heads.Pulls, "open pull request", "open pull requests"), strings.Join(s.by, " and ")), s.branch.Name)
	}
	for i := range found {
		found[i].Evidence = lines[found[i].Subject].evidence()
	}
	return found, undecided, unread.lack()
}

// undecided is why the absence of a suspect proves nothing; empty where it does.
func (f *facts) undecided(s suspect, heads Heads, looked bool) string {
	switch {
	case !looked:
		return "its commits were not looked at"
	case heads.unsure() != "":
		return heads.unsure()
	case f.now.InRepoEnabled(s.branch.Org, s.branch.Repo):
		return "a .prow.yaml may have the job"
	}
	return ""
}

func (f *facts) absentFinding(s suspect) finding.Finding {
	follows := "nothing can be merged"
	if slices.Equal(s.by, []string{byConfiguration}) {
		follows += " once branchprotector has run"
	}
	made := finding.Finding{Severity: finding.Alert,
		Subject:  finding.Subject{Org: s.branch.Org, Repo: s.branch.Repo, Context: s.context},
		Position: f.placeOf(requirement{branch: branch{Branch: s.branch}}),
		Message:  bounded(fmt.Sprintf("context %q is required, and nobody reports it: %s", s.context, follows)),
		Mend:     "remove the context where it is required; if another system reports it, add it to --external-checks"}
	if contexts, protected := f.now.required(s.branch); protected && len(contexts.Origins(s.context)) > 0 {
		made.Position = contexts.Origins(s.context)[0].Position
	}
	return made
}
