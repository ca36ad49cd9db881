package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// requirement is what a change does to one branch.
type requirement struct {
	branch         branch
	added, removed []string
	before, now    config.List
}

// requirements compares what branches require in both configurations, on branches that
// branchprotector protects in both.
func (f *facts) requirements() []requirement {
	var changes []requirement
	for _, b := range f.branchesOfBoth() {
		before, was := f.base.required(b.Branch)
		now, is := f.now.required(b.Branch)
		if !is || !was && f.base.decide(b.Branch).err != nil {
			continue
		}
		change := requirement{branch: b, before: before, now: now}
		change.added = without(now.Values(), before.Values())
		change.removed = without(before.Values(), now.Values())
		if len(change.added)+len(change.removed) > 0 {
			changes = append(changes, change)
		}
	}
	return changes
}

// branchesOfBoth are the branches that either configuration speaks of. An assumed one
// counts where both assume it, or where the other one speaks of it.
func (f *facts) branchesOfBoth() []branch {
	known := map[config.Branch]branch{}
	for _, v := range []*view{f.base, f.now} {
		for _, repository := range v.repositories {
			for _, b := range v.branches[repository] {
				if other, twice := known[b.Branch]; !twice || other.Assumed {
					known[b.Branch] = b
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(known), func(a, b branch) int {
		return strings.Compare(a.String(), b.String())
	})
}

func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(item string) bool { return slices.Contains(other, item) })
}

// changedContexts says which contexts a change makes required, and which it frees. It is
// INFO: what is wrong about a change is for B1, B2 and B9 to say.
func changedContexts(f *facts) finding.List {
	var found finding.List
	at := map[string]int{}
	for _, change := range f.requirements() {
		b := change.branch
		var words []string
		for _, context := range change.added {
			words = append(words, "+"+context)
		}
		for _, context := range change.removed {
			words = append(words, "-"+context)
		}
		key := b.Repository() + strings.Join(words, "\x00")
		if i, again := at[key]; again {
			found[i].Subject.Branch += "," + b.Name
			continue
		}
		at[key] = len(found)
		made := finding.Finding{Severity: finding.Info, Position: f.placeOf(change),
			Subject:  finding.Subject{Org: b.Org, Repo: b.Repo, Branch: b.Name},
			Message:  "required contexts change: " + strings.Join(few(words), " "),
			Evidence: f.untriggered(change)}
		if len(made.Evidence) > 0 {
			made.Mend = "after the next run of branchprotector, start those jobs on open pull requests by comment"
		}
		found = append(found, made)
	}
	return found
}

// placeOf is where to look: what requires a context now, the job that freed one, or else
// the narrowest level of the configuration.
func (f *facts) placeOf(change requirement) diagnostic.Position {
	for _, context := range change.added {
		if origins := change.now.Origins(context); len(origins) > 0 {
			return origins[0].Position
		}
	}
	for _, context := range change.removed {
		if _, job := f.now.supplyOf(change.branch.Branch, context); job != nil {
			return job.Position
		}
	}
	org, ok := f.now.BranchProtection.Orgs[change.branch.Org]
	if !ok {
		return f.now.BranchProtection.Position
	}
	if own, ok := org.Repos[change.branch.Repo]; ok {
		return own.Position
	}
	return org.Position
}

// untriggered are the contexts that a change requires and that nothing starts on pull
// requests which are open: status-reconciler starts jobs that are new, and no others
// (pkg/statusreconciler/controller.go in https://github.com/kubernetes-sigs/prow).
func (f *facts) untriggered(change requirement) []string {
	var evidence []string
	for _, context := range change.added {
		before, was := f.base.supplyOf(change.branch.Branch, context)
		now, _ := f.now.supplyOf(change.branch.Branch, context)
		if now == supplyAlways && before != supplyAlways && !f.startedAnew(change.branch.Branch, context) {
			evidence = append(evidence, fmt.Sprintf("%s: before, %s; nothing starts it on open pull requests", context,
				before.says(was)))
		}
	}
	return evidence
}

// leftovers is B4, as far as a change shows: branches that branchprotector would not
// touch any more. What is in force there stays in force, required contexts included.
func leftovers(f *facts) finding.List {
	var found finding.List
	for _, b := range f.branchesOfBoth() {
		before, was := f.base.required(b.Branch)
		now := f.now.decide(b.Branch)
		if !was || now.err != nil || now.Action == config.Protect {
			continue
		}
		made := finding.Finding{Severity: finding.Warn, Position: f.placeOf(requirement{branch: b}),
			Subject: finding.Subject{Org: b.Org, Repo: b.Repo, Branch: b.Name}}
		switch {
		case now.Action == config.Unprotect:
			made.Message = "the branch is protected now, and branchprotector will remove that"
			made.Mend = "if that is meant, say so in the change; otherwise set protect: true"
		case len(before.Values()) > 0:
			made.Message = "branchprotector will leave the branch alone (" + now.Why + "): its required contexts stay in force"
			made.Evidence = []string{"required in " + f.Base.Name + ": " + strings.Join(few(before.Values()), ", ")}
			made.Mend = "remove the contexts by hand after the merge, or keep the branch and drop its contexts first"
		default:
			made.Severity = finding.Info
			made.Message = "branchprotector will leave the branch alone (" + now.Why + "): its protection stays as it is"
		}
		found = append(found, made)
	}
	return merged(found)
}

// merged makes one finding of those that say the same of several branches.
func merged(found finding.List) finding.List {
	at := map[string]int{}
	var merged finding.List
	for _, f := range found {
		key := f.Subject.Org + "/" + f.Subject.Repo + "\x00" + f.Message + "\x00" + strings.Join(f.Evidence, "\x00")
		if i, again := at[key]; again {
			merged[i].Subject.Branch += "," + f.Subject.Branch
			continue
		}
		at[key] = len(merged)
		merged = append(merged, f)
	}
	return merged
}
