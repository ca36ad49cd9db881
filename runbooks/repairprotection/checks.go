package repairprotection

import (
	"context"
	"strings"

	"salve/internal/prow/brief"
	"salve/internal/prow/protection"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

func (r *repair) protectionsRight() runbook.Guard {
	return r.onBranches("protections-right", "is each branch read back as the configuration says?", protectionsRight)
}

func protectionsRight(states []branchState) runbook.Finding {
	var wrong []string
	gone := 0
	for _, state := range states {
		switch {
		case state.Gone:
			gone++
		case !state.Right:
			wrong = append(wrong, state.Branch+": "+bounded(state.Change, longestInPlan))
		}
	}
	if len(wrong) > 0 {
		return runbook.No("%s", strings.Join(brief.Some(wrong), "; "))
	}
	return runbook.Yes("as the configuration says: %d; gone meanwhile: %d", len(states)-gone, gone)
}

func (r *repair) leftoversGone() runbook.Guard {
	return r.onBranches("leftovers-gone", "does no branch require any longer what Prow once required?", leftoversGone)
}

func leftoversGone(states []branchState) runbook.Finding {
	var left []string
	for _, state := range states {
		if state.Kind == protection.Leftover && !state.Right {
			left = append(left, state.Branch)
		}
	}
	if len(left) > 0 {
		return runbook.No("still required on %s", brief.List(left))
	}
	return runbook.Yes("none is left")
}

func (r *repair) pullsFree() runbook.Guard {
	read := func(ctx context.Context, _ runbook.Run) ([]branches.Outlook, error) {
		return r.branches.Outlooks(ctx, r.in.Pulls)
	}
	return runbook.Ask("pulls-free",
		"can the pull requests that waited in vain be merged, or is it known what for they wait?", read, pullsFree)
}

func pullsFree(outlooks []branches.Outlook) runbook.Finding {
	var free, waiting, unexplained []string
	for _, outlook := range outlooks {
		switch {
		case outlook.Free:
			free = append(free, outlook.String()+" ("+outlook.Reason+")")
		case outlook.Reason != "" && !stillWaits(outlook):
			waiting = append(waiting, outlook.String()+" ("+outlook.Reason+")")
		default:
			unexplained = append(unexplained, outlook.String()+" ("+orUnknown(outlook.Reason)+")")
		}
	}
	if len(unexplained) > 0 {
		return runbook.No("still blocked: %s", strings.Join(unexplained, "; "))
	}
	said := []string{"mergeable: " + brief.List(free)}
	if len(waiting) > 0 {
		said = append(said, "waiting for something else: "+strings.Join(waiting, ", "))
	}
	return runbook.Yes("%s", strings.Join(said, "; "))
}

// stillWaits tells whether a pull request waits for one of the contexts that are no longer required.
func stillWaits(outlook branches.Outlook) bool {
	for _, context := range outlook.Waits {
		if outlook.WaitsFor(context) {
			return true
		}
	}
	return false
}

func orUnknown(reason string) string {
	if reason == "" {
		return "by what is not known"
	}
	return reason
}
