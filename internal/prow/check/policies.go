package check

import (
	"errors"
	"fmt"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// policyErrors are branches whose protection can't be computed. Prow loads such a
// configuration, and checkconfig says nothing; branchprotector leaves the branch as it
// is and ends non-zero, each time. One line of the configuration is one finding, however
// many branches it is about.
func policyErrors(f *facts) finding.List {
	var found finding.List
	branches := map[finding.Subject][]string{}
	for _, repository := range f.now.repositories {
		for _, b := range f.now.branches[repository] {
			var wrong *config.PolicyError
			if !errors.As(f.now.decide(b.Branch).err, &wrong) {
				continue
			}
			subject := subjectOf(wrong)
			if branches[subject] == nil {
				found = append(found, finding.Finding{Severity: finding.Alert, Position: wrong.Origin.Position, Subject: subject,
					Message: wrong.Error() + ": branchprotector leaves the branch as it is, and fails",
					Mend:    mendOfPolicy(wrong.Reason)})
			}
			branches[subject] = append(branches[subject], b.String())
		}
	}
	for i := range found {
		found[i].Evidence = []string{"branches: " + strings.Join(few(branches[found[i].Subject]), ", ")}
	}
	return found
}

// subjectOf names the level whose setting is wrong.
func subjectOf(wrong *config.PolicyError) finding.Subject {
	subject := finding.Subject{Detail: string(wrong.Reason)}
	switch wrong.Origin.Level {
	case config.LevelOrg:
		subject.Org = wrong.Branch.Org
	case config.LevelRepo:
		subject.Org, subject.Repo = wrong.Branch.Org, wrong.Branch.Repo
	case config.LevelBranch:
		subject.Org, subject.Repo, subject.Branch = wrong.Branch.Org, wrong.Branch.Repo, wrong.Branch.Name
	default: // it is said for all orgs
	}
	return subject
}

func mendOfPolicy(reason config.Reason) string {
	switch reason {
	case config.ReasonNoProtect:
		return "set protect for the branch, or unmanaged: true"
	case config.ReasonJobsRequireProtection:
		return "keep required jobs off the branch (skip_branches), or set protect: true, or allow_disabled_job_policies"
	case config.ReasonDisabledPolicy:
		return "remove the settings beside protect: false, or set allow_disabled_policies"
	case config.ReasonApps:
		return "start branchprotector with --enable-apps-restrictions, or remove apps"
	default:
		return "correct the regular expression"
	}
}

// contextConflicts are branches that Tide can't compute what to wait for on: it then
// merges nothing there.
func contextConflicts(f *facts) finding.List {
	var found finding.List
	at := map[string]int{}
	for _, repository := range f.now.repositories {
		for _, b := range f.now.branches[repository] {
			if len(f.now.Tide.QueriesFor(b.Branch)) == 0 {
				continue
			}
			_, err := f.now.ContextPolicy(b.Branch)
			var wrong *config.ContextError
			if !errors.As(err, &wrong) {
				continue
			}
			key := repository + fmt.Sprint(wrong.Contexts, wrong.Buckets)
			if i, again := at[key]; again {
				found[i].Evidence = append(found[i].Evidence, "branch "+b.Name)
				continue
			}
			at[key] = len(found)
			found = append(found, finding.Finding{Severity: finding.Alert, Position: f.producerOf(b.Branch, wrong.Contexts),
				Subject: finding.Subject{Org: b.Org, Repo: b.Repo, Context: wrong.Contexts[0],
					Detail: wrong.Buckets[0] + " and " + wrong.Buckets[1]},
				Message:  wrong.Error() + ": Tide merges nothing there",
				Evidence: []string{"branch " + b.Name},
				Mend:     "name the context in one of the lists only, or change the job that reports it"})
		}
	}
	return found
}

// producerOf is the place of a job that reports one of the contexts, else of Tide's
// options.
func (f *facts) producerOf(b config.Branch, contexts []string) diagnostic.Position {
	for _, context := range contexts {
		if _, job := f.now.supplyOf(b, context); job != nil {
			return job.Context.Position
		}
	}
	return f.now.Tide.Position
}
