package rescuepods

import (
	"regexp"
	"strings"

	"salve/runbook"
)

// person is the name of an account.
var person = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]*$`)

// plannedBy keeps who made the run. A run that is gone on with by another person stays that of the first.
func (p Prow) plannedBy(user string) Prow {
	if p.ApprovedBy != "" && p.Planner == "" {
		p.Planner = user
	}
	return p
}

// twoPersons is that part of G7 which asks for a second person above the cap.
func (r *rescue) twoPersons() runbook.Guard {
	guard := r.guard("two-persons", "did a second person approve what is above the cap?",
		func(seen tally) runbook.Finding { return twoPersons(seen, r.in.Prow) })
	guard.NotOverridable = true
	return guard
}

// twoPersons: the caps that a user need not give are what one person may delete. Whoever raises them brings a name
// besides the digest. A name is no signature: it says who is to be asked.
func twoPersons(seen tally, prow Prow) runbook.Finding {
	most, mostShare := Defaults().Max, prowDefaults().MaxShare
	all, stray := seen.Live, seen.Stranded
	above := stray > most || 100*stray > mostShare*all
	switch {
	case prow.ApprovedBy == "" && !above:
		return runbook.Yes("G7: %d of %d pods: one person may delete %d and %d %%", stray, all, most, mostShare)
	case prow.ApprovedBy == "":
		return runbook.No("G7: %d of %d pods, and one person may delete %d and %d %%. hint: have a second person look at "+
			"the list, then --approved-list DIGEST --approved-by WHO", stray, all, most, mostShare).
			WithOutcome(runbook.NeedsAttention)
	case prow.Planner == "":
		return runbook.Unknownf("G7: who runs this is not known, and may be %s, who approved. hint: export USER",
			prow.ApprovedBy)
	case account(prow.ApprovedBy) == account(prow.Planner):
		return runbook.No("G7: %s approved, and %s made the run: that is one person", prow.ApprovedBy, prow.Planner).
			WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("G7: %s made the run; by the command line %s approved list %s", prow.Planner, prow.ApprovedBy,
		prow.ApprovedList)
}

// account is a name without its domain.
func account(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return strings.ToLower(strings.TrimSpace(name))
}
