package check

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
)

// drifted is B3: the protection of a branch is not what the configuration says, in the
// fields that it speaks about. That is WARN: branchprotector has not run since, or somebody
// else wrote. It is ALERT where a context is required that the configuration doesn't
// require and that no job reports on each pull request: pull requests without it can't be
// merged. If these are exactly the contexts of conditional jobs, a branchprotector from
// before February 2019 wrote them.
//
// While a branchprotector is at work the live state is mixed, for hours, and that is
// normal: then it is INFO, and the rule UNKNOWN.
func drifted(f *facts) (finding.List, finding.Lack) {
	var found finding.List
	unread := &gaps{}
	unread.addAll(f.GitHub.Unread)
	for _, b := range f.liveBranches() {
		live, decision := f.GitHub.Branches[b], f.now.decide(b)
		switch {
		case decision.err != nil:
			unread.add(b.String(), decision.err.Error())
			continue
		case decision.Action == config.Leave:
			continue
		case live.Failed != "":
			unread.add(b.String(), live.Failed)
			if live.required() == nil || decision.Action != config.Protect {
				continue
			}
			live.Protection = f.butContexts(b, live)
		}
		state := f.comparer().Compare(protection.RuleOf(b, decision.Decision), live.Protection)
		if !state.Right() {
			found = append(found, f.driftOf(state))
		}
	}
	return f.heldBack(found, unread.lack())
}

// butContexts is a protection of which the required contexts alone are known: all else is as the
// configuration says.
func (f *facts) butContexts(b config.Branch, live LiveBranch) github.Protection {
	settings := protection.Desired(f.now.decide(b).Policy, github.Settings{}, nil)
	required := &github.StatusChecks{Checks: live.required().Checks}
	if settings.StatusChecks != nil {
		required.Strict = settings.StatusChecks.Strict
	}
	settings.StatusChecks = required
	return github.Protection{Branch: live.Protection.Branch, Protected: true, Settings: settings}
}

// fingerprintSays is the message of what only an old branchprotector writes.
const fingerprintSays = "GitHub requires exactly what a branchprotector from before February 2019 would, which takes " +
	"conditional jobs for required ones"

func (f *facts) driftOf(state protection.State) finding.Finding {
	b := state.Branch
	contexts, _ := f.now.required(b)
	made := finding.Finding{Severity: finding.Warn, Subject: finding.Subject{Org: b.Org, Repo: b.Repo, Branch: b.Name},
		Position: f.placeOf(requirement{branch: branch{Branch: b}, added: state.Added(), now: contexts}),
		Message: "protection on GitHub differs from the configuration in " +
			count(len(state.Differences), "field", "fields"),
		Mend: "run branchprotector, or salve run repair-branch-protection"}
	for _, difference := range state.Differences {
		made.Evidence = append(made.Evidence, bounded("GitHub → configuration: "+difference.String()))
	}
	silent := f.comparer().Silent(b, state.Live.Settings.StatusChecks)
	extra := slices.DeleteFunc(state.Removed(), func(context string) bool { return !slices.Contains(silent, context) })
	switch {
	case state.Fingerprint:
		made.Severity = finding.Alert
		made.Message = fingerprintSays
		made.Evidence = append(made.Evidence, bounded("beyond the configuration: "+strings.Join(few(state.Removed()), ", ")))
		made.Mend = "find the old branchprotector (B8) and stop it; then salve run repair-branch-protection"
	case len(extra) > 0:
		made.Severity = finding.Alert
		made.Message = bounded(fmt.Sprintf("GitHub requires %s, which the configuration does not, and no job reports on "+
			"each pull request", strings.Join(few(extra), ", ")))
	case !state.Live.Protected:
		made.Message = "the branch is not protected on GitHub, and the configuration protects it"
	case !state.Protected:
		made.Message = "the branch is protected on GitHub, and the configuration removes that"
	}
	return made
}

// heldBack takes the weight off while a branchprotector is at work; not off what an old one wrote, which may be the one
// that is.
func (f *facts) heldBack(found finding.List, lack finding.Lack) (finding.List, finding.Lack) {
	if f.Protector == nil || len(found) == 0 {
		return found, lack
	}
	var runs []string
	for _, run := range f.Protector.Runs {
		runs = append(runs, run.String())
	}
	note := "in progress: " + strings.Join(few(runs), ", ")
	mixed := slices.ContainsFunc(found, func(one finding.Finding) bool { return one.Message != fingerprintSays })
	switch {
	case len(runs) > 0 && !mixed:
	case len(runs) > 0:
		lack = both(failed("held back while a branchprotector is at work: %s", strings.Join(few(runs), ", ")), lack)
	case f.Protector.RunsFailed != "":
		note = "whether a branchprotector is at work is not known: " + f.Protector.RunsFailed
	default:
		return found, lack
	}
	for i := range found {
		found[i].Evidence = append(found[i].Evidence, note)
		if len(runs) > 0 && found[i].Message != fingerprintSays {
			found[i].Severity = finding.Info
			found[i].Mend = "wait for its end: until then GitHub has some branches as they were and some as they will be"
		}
	}
	return found, lack
}

// leftBehind is B4 as a whole: what a change would leave behind, and what is left on
// GitHub.
func leftBehind(f *facts) (finding.List, finding.Lack) {
	var found finding.List
	if baseConfig(f) == nothing() {
		found = leftovers(f)
	}
	if lack := liveGitHub(f); lack != nothing() {
		return found, both(baseConfig(f), lack)
	}
	live, lack := liveLeftovers(f)
	return append(found, live...), lack
}

// liveLeftovers is B4 as GitHub shows it: a branch that branchprotector leaves alone still
// requires a context of Prow's, or a ruleset does, which branchprotector never writes, and
// no job reports it on each pull request (any more). What still comes keeps nobody waiting,
// and is quiet. Which contexts Prow had before only a base tells.
func liveLeftovers(f *facts) (finding.List, finding.Lack) {
	var found finding.List
	unread := &gaps{}
	unread.addAll(f.GitHub.Unread)
	for _, b := range f.liveBranches() {
		live, decision := f.GitHub.Branches[b], f.now.decide(b)
		switch {
		case decision.err != nil || decision.Action != config.Leave: // B3
		default:
			if live.Failed != "" {
				unread.add(b.String(), live.Failed)
			}
			if silent := f.comparer().Silent(b, live.required()); len(silent) > 0 {
				found = append(found, f.leftoverOf(b, silent, "",
					"branchprotector leaves the branch alone ("+decision.Why+"), and GitHub still requires there "))
			}
		}
		if live.RulesFailed != "" {
			unread.add("rulesets of "+b.String(), live.RulesFailed)
			continue
		}
		for _, rule := range live.Rules {
			if silent := f.comparer().Silent(b, rule.StatusChecks); len(silent) > 0 {
				ruleset := fmt.Sprintf("ruleset %d", rule.Ruleset.ID)
				found = append(found, f.leftoverOf(b, silent, ruleset,
					ruleset+" of "+rule.Ruleset.Source+", which branchprotector does not write, requires "))
			}
		}
	}
	return found, both(unread.lack(), baseConfig(f))
}

func (f *facts) leftoverOf(b config.Branch, silent []string, ruleset, says string) finding.Finding {
	made := finding.Finding{Severity: finding.Alert, Position: f.placeOf(requirement{branch: branch{Branch: b},
		removed: silent}), Subject: finding.Subject{Org: b.Org, Repo: b.Repo, Branch: b.Name, Detail: ruleset},
		Message: bounded(says + strings.Join(few(silent), ", ") + ": pull requests without it can't be merged"),
		Mend:    "remove the contexts: salve run repair-branch-protection --remove-leftovers, or by hand"}
	if ruleset != "" {
		made.Mend = "remove the contexts from the ruleset"
	}
	for _, context := range silent {
		supply, job := f.now.supplyOf(b, context)
		said := supply.says(job)
		if job == nil {
			said = "no job reports it any more"
		}
		made.Evidence = append(made.Evidence, bounded(context+": "+said))
	}
	made.Evidence = few(made.Evidence)
	return made
}
