package check

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/prow/blocked"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
)

// MostOpen is how many open pull requests of a repository are looked at, the newest: a limit that
// is shared with branchprotector and Tide has no room for all of a large one.
const MostOpen = 300

// InPool is an open pull request that Tide says it would merge, read with its merge state, with
// the reports on its head.
type InPool struct {
	Pull    github.PullRequest
	Reports github.HeadReports
}

// wedged is B5: GitHub requires a context, the head of an open pull request does not have it half
// an hour after it was pushed, and nothing is under way that would report it. ALERT: nobody is
// told, and it waits for ever.
func wedged(f *facts) (finding.List, finding.Lack) {
	found, lack := blocked.Wedges(f.GitHub.Waiting)
	found = f.together(found, func(subject finding.Subject, n int) string {
		return fmt.Sprintf("%d open pull requests wait for %q, which nothing will report", n, subject.Context)
	})
	lack.Reason = bounded(diagnostic.Printable(lack.Reason))
	return found, both(lack, f.unseenPulls(func(config.Branch) bool { return true }))
}

// split is B6: Tide says that a pull request is in its pool, and GitHub that it is blocked.
func split(f *facts) (found finding.List, lack finding.Lack) {
	for _, pull := range f.GitHub.InPool {
		one, unseen := blocked.Split(pull.Pull, pull.Reports)
		found = append(found, one...)
		if lack == nothing() {
			lack = unseen
		}
	}
	waited := f.waited()
	return f.together(found, func(_ finding.Subject, n int) string {
			return fmt.Sprintf("Tide would merge %d open pull requests, and GitHub says that they are blocked", n)
		}), both(lack, f.unseenPulls(func(b config.Branch) bool {
			_, looked := waited[b]
			return !looked
		}))
}

// together makes one finding of those about pull requests for one branch, and about one context:
// an outage has hundreds.
func (f *facts) together(found finding.List, says func(_ finding.Subject, n int) string) finding.List {
	var grouped []finding.List
	at := map[finding.Subject]int{}
	for _, one := range found {
		one.Subject.Detail = ""
		i, known := at[one.Subject]
		if !known {
			i = len(grouped)
			at[one.Subject], grouped = i, append(grouped, nil)
		}
		grouped[i] = append(grouped[i], one)
	}
	var made finding.List
	for _, group := range grouped {
		made = append(made, f.oneOf(group, says))
	}
	return made
}

func (f *facts) oneOf(group finding.List, says func(_ finding.Subject, n int) string) finding.Finding {
	made := group[0]
	b := config.Branch{Org: made.Subject.Org, Repo: made.Subject.Repo, Name: made.Subject.Branch}
	contexts, _ := f.now.required(b)
	made.Position = f.placeOf(requirement{branch: branch{Branch: b}, added: []string{made.Subject.Context},
		removed: []string{made.Subject.Context}, now: contexts})
	if len(group) > 1 {
		made.Message, made.Evidence = says(made.Subject, len(group)), nil
		var mends []string
		for _, one := range group {
			made.Evidence = append(made.Evidence, one.Message)
			if !slices.Contains(mends, one.Mend) {
				mends = append(mends, one.Mend)
			}
		}
		made.Mend = strings.Join(few(mends), "; ")
	}
	made.Message, made.Evidence = bounded(made.Message), few(made.Evidence)
	for i := range made.Evidence {
		made.Evidence[i] = bounded(made.Evidence[i])
	}
	return made
}

// unseenPulls lacks what could not be read of open pull requests, and of what branches require
// that matter.
func (f *facts) unseenPulls(matters func(config.Branch) bool) finding.Lack {
	unread := &gaps{}
	unread.addAll(f.GitHub.Unread)
	unread.addAll(f.GitHub.OpenUnread)
	for _, b := range f.prowsBranches() {
		live := f.GitHub.Branches[b]
		if live.Failed != "" && matters(b) {
			unread.add(b.String(), live.Failed)
		}
		if live.RulesFailed != "" && matters(b) {
			unread.add("rulesets of "+b.String(), live.RulesFailed)
		}
	}
	return unread.lack()
}

// prowsBranches are those on GitHub of repositories that Prow has jobs for, or that the
// configuration requires contexts of. What others do in the others is none of its business.
func (f *facts) prowsBranches() []config.Branch {
	ours := map[string]bool{}
	for b := range f.GitHub.Branches {
		contexts, _ := f.now.required(b)
		ours[b.Repository()] = ours[b.Repository()] || len(contexts.Values()) > 0 || len(f.now.Presubmits[b.Repository()]) > 0
	}
	return slices.DeleteFunc(f.liveBranches(), func(b config.Branch) bool { return !ours[b.Repository()] })
}

// waited are the branches that require contexts, by the configuration or on GitHub, with those
// that GitHub requires and that others than Prow are not known to report.
func (f *facts) waited() map[config.Branch][]string {
	waited := map[config.Branch][]string{}
	for _, b := range f.prowsBranches() {
		live := f.GitHub.Branches[b]
		all := live.required().Contexts()
		if live.RulesFailed == "" {
			for _, rule := range live.Rules {
				all = append(all, rule.StatusChecks.Contexts()...)
			}
		}
		contexts, _ := f.now.required(b)
		if len(all) == 0 && len(contexts.Values()) == 0 {
			continue
		}
		slices.Sort(all)
		waited[b] = slices.DeleteFunc(slices.Compact(all), func(context string) bool {
			supply, _ := f.now.supplyOf(b, context)
			return (supply == supplyNone || supply == supplyElsewhere) && f.known(b, context)
		})
	}
	return waited
}

// Waited are the branches whose open pull requests B5 and B6 ask about, with the contexts that
// these may wait for: GitHub's branches have to be among the facts.
func Waited(given Facts) map[config.Branch][]string {
	f := derive(given)
	if f.now == nil || liveGitHub(f) != nothing() {
		return nil
	}
	return f.waited()
}
