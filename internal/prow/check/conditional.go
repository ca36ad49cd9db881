package check

import (
	"fmt"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// conditional is B1: somebody wrote a context down as required, and the job that
// reports it doesn't run on each pull request. Contexts that jobs bring in themselves
// are never like that.
//
// Where the status can be missing for ever it is ALERT: pull requests whose files don't
// match can't be merged. An optional job always reports, but Tide ignores what GitHub
// requires: WARN. A job that a comment starts may be meant so: INFO, and nothing at all
// where the policy says so (require_manually_triggered_jobs), or Tide starts it
// (run_before_merge).
func conditional(f *facts) finding.List {
	var found finding.List
	at := map[finding.Subject]int{}
	lines := map[finding.Subject]*branchLines{}
	f.now.eachRequired(func(b branch, context string, origins []config.Origin, policy config.Policy) {
		supply, job := f.now.supplyOf(b.Branch, context)
		severity := severityOf(supply, job, b, policy)
		if severity == finding.OK {
			return
		}
		subject := finding.Subject{Org: b.Org, Repo: b.Repo, Context: context}
		if i, again := at[subject]; again {
			lines[subject].add(supply.says(job), b.Name)
			if severity.AtLeast(found[i].Severity) {
				found[i].Severity = severity
			}
			return
		}
		at[subject], lines[subject] = len(found), &branchLines{}
		lines[subject].add(supply.says(job), b.Name)
		found = append(found, finding.Finding{Severity: severity, Position: origins[0].Position, Subject: subject,
			Message: fmt.Sprintf("context %q is required, but the job that reports it %s", context, failing(supply)),
			Mend:    mendOfSupply(supply)})
	})
	for i := range found {
		found[i].Evidence = lines[found[i].Subject].evidence()
	}
	return found
}

// eachRequired gives the contexts that somebody wrote down as required on the branches
// that branchprotector protects, one after the other.
func (v *view) eachRequired(take func(b branch, context string, origins []config.Origin, policy config.Policy)) {
	for _, repository := range v.repositories {
		for _, b := range v.branches[repository] {
			contexts, _ := v.required(b.Branch)
			for _, context := range contexts.Values() {
				if origins := byHand(contexts, context); len(origins) > 0 {
					take(b, context, origins, v.decide(b.Branch).Policy)
				}
			}
		}
	}
}

func severityOf(s supply, job *config.Job, b branch, policy config.Policy) finding.Severity {
	switch s {
	case supplyNone, supplyAlways:
		return finding.OK // none is for B2
	case supplyElsewhere:
		switch {
		case b.Assumed:
			return finding.OK
		case b.Doubtful:
			return finding.Warn
		}
		return finding.Alert
	case supplySilent, supplyConditional:
		return finding.Alert
	case supplyManual:
		if job.RunBeforeMerge || on(policy.RequireManuallyTriggeredJobs) && !job.Optional {
			return finding.OK
		}
		return finding.Info
	default:
		return finding.Warn
	}
}

func failing(s supply) string {
	switch s {
	case supplyElsewhere:
		return "does not run on all branches where it is"
	case supplySilent:
		return "does not report it"
	case supplyManual:
		return "is started by a comment only"
	case supplyOptional:
		return "is optional: GitHub blocks a merge that Tide tries"
	default:
		return "runs only if certain files change: pull requests with others can't be merged"
	}
}

func mendOfSupply(s supply) string {
	switch s {
	case supplyManual:
		return "write require_manually_triggered_jobs: true if that is meant, or let the job always run"
	case supplyOptional:
		return "drop optional: true from the job, or the context from required_status_checks"
	case supplyElsewhere:
		return "require the context on the branches where the job runs, or let the job run on all of them"
	default:
		return "drop the context from required_status_checks (Tide waits for the job where it runs), or let the job " +
			"always run"
	}
}
