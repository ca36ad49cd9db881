package check

import (
	"fmt"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// order is B9: a change after which a status stops appearing that GitHub requires until
// branchprotector has run, which takes hours. Where the context is required even then,
// and no job is left, it is ALERT; where the job is left and doesn't run each time, that
// is for B1 to say.
func order(f *facts) finding.List {
	var found finding.List
	lines := map[finding.Subject]*branchLines{}
	for _, b := range f.branchesOfBoth() {
		before, was := f.base.required(b.Branch)
		if !was {
			continue
		}
		now, _ := f.now.required(b.Branch)
		for _, context := range before.Values() {
			stops := f.stops(b, context)
			stays := len(byHand(now, context)) > 0
			supply, job := f.now.supplyOf(b.Branch, context)
			if !stops || stays && supply != supplyNone {
				continue
			}
			made := f.orderOf(b, context, byHand(now, context))
			if lines[made.Subject] == nil {
				lines[made.Subject] = &branchLines{}
				found = append(found, made)
			}
			lines[made.Subject].add(fmt.Sprintf("%s: %s", context, supply.says(job)), b.Name)
		}
	}
	for i := range found {
		found[i].Evidence = lines[found[i].Subject].evidence()
	}
	return found
}

// stops is whether the status was there on each pull request, and will not be.
func (f *facts) stops(b branch, context string) bool {
	before, _ := f.base.supplyOf(b.Branch, context)
	now, _ := f.now.supplyOf(b.Branch, context)
	return before >= supplyOptional && now <= supplyManual
}

func (f *facts) orderOf(b branch, context string, stay []config.Origin) finding.Finding {
	if len(stay) > 0 {
		return finding.Finding{Severity: finding.Alert, Position: stay[0].Position,
			Subject: finding.Subject{Org: b.Org, Repo: b.Repo, Detail: "still required"},
			Message: "statuses stop appearing that stay required: no pull request can be merged any more",
			Mend:    "remove the contexts from required_status_checks in the same change, and run branchprotector after it"}
	}
	return finding.Finding{Severity: finding.Warn, Position: f.placeOf(requirement{branch: b, removed: []string{context}}),
		Subject: finding.Subject{Org: b.Org, Repo: b.Repo},
		Message: "statuses stop appearing that GitHub requires until a complete run of branchprotector: " +
			"pull requests without them can't be merged until then",
		Mend: "run branchprotector to its end right after the merge, with a version no older than the one in use"}
}
