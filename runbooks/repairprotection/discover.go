package repairprotection

import (
	"context"
	"fmt"
	"strings"

	"salve/internal/apierr"
	"salve/internal/prow/brief"
	"salve/internal/prow/protection"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

// Discover looks at all branches of the scope before a run is made. It gives the inputs with what was found; where no
// run is to be made the finding says how that ends, and why.
func Discover(ctx context.Context, world World, in Inputs) (Inputs, runbook.Finding) {
	r, err := newRepair(world, in)
	if err != nil {
		return in, runbook.Unknown(err)
	}
	in = r.in
	if in.Revision == "" {
		if in.Revision, err = revisionOf(ctx, in); err != nil {
			return in, runbook.Unknown(err)
		}
	}
	scope, err := in.scope()
	if err != nil {
		return in, runbook.Unknown(err)
	}
	found, err := r.branches.Discover(ctx, scope)
	if err != nil {
		return in, notDiscovered(err)
	}
	states := found.Differing
	if in.RemoveLeftovers {
		states = append(states, found.Leftovers...)
	}
	in.Branches = nil
	for _, state := range states {
		in.Branches = append(in.Branches, Planned{
			Branch: state.Branch.String(), Live: state.LiveDigest(), Want: state.WantDigest(),
		})
	}
	in.Looked, in.Uncomputable, in.Unseen = found.Looked, brief.Some(found.Uncomputable), brief.Some(found.Unseen)
	in.Leftovers = nil
	for _, state := range found.Leftovers {
		in.Leftovers = append(in.Leftovers, fmt.Sprintf("%s requires %s", state.Branch,
			strings.Join(state.Removed(), ", ")))
	}
	in.Leftovers = brief.Some(in.Leftovers)
	if len(in.Branches) == 0 {
		return in, runbook.No("nothing differs: %s", in.found())
	}
	if in.Pulls, err = r.branches.Waiting(ctx, states, in.Sample); err != nil {
		return in, notDiscovered(err)
	}
	return in, runbook.Yes("%s", in.found())
}

// notDiscovered: where GitHub asks for a pause, waiting helps.
func notDiscovered(err error) runbook.Finding {
	if apierr.ClassOf(err) == apierr.Throttled {
		return runbook.No("not all branches could be read: %v", err).WithOutcome(runbook.Deferred)
	}
	return runbook.Unknownf("not all branches could be read: %v", err)
}

// found says what the discovery found.
func (in Inputs) found() string {
	said := []string{fmt.Sprintf("%d branches that the configuration speaks about were looked at", in.Looked)}
	if n := len(in.Branches); n > 0 {
		said = append(said, fmt.Sprintf("to be changed: %d", n))
	}
	for _, list := range []struct {
		what  string
		items []string
		hint  string
	}{
		{"leftovers of Prow on branches that it leaves alone", in.Leftovers,
			" (--remove-leftovers takes these contexts away)"},
		{"left as they are, because their policy can't be computed", in.Uncomputable, ""},
		{"not looked at for leftovers", in.Unseen, ""},
	} {
		if len(list.items) > 0 {
			said = append(said, fmt.Sprintf("%s: %s%s", list.what, strings.Join(list.items, "; "), list.hint))
		}
	}
	return strings.Join(said, ". ")
}

// rulesOf are what the configuration says of the recorded branches: the record names them and proves nothing.
func rulesOf(in Inputs, reader *branches.Reader) ([]protection.Rule, error) {
	var rules []protection.Rule
	seen := map[string]bool{}
	for _, planned := range in.Branches {
		branch, err := branches.Parse(planned.Branch)
		if err != nil {
			return nil, err
		}
		rule, err := reader.RuleOf(branch)
		switch {
		case err != nil:
			return nil, err
		case seen[planned.Branch]:
			return nil, fmt.Errorf("branch %s is listed twice", branch)
		case !in.inScope(branch.Repository()):
			return nil, fmt.Errorf("branch %s is not of a --repo", branch)
		case rule.Kind == protection.Leftover && !in.RemoveLeftovers:
			return nil, fmt.Errorf("branch %s: the configuration leaves it alone. hint: --remove-leftovers", branch)
		}
		seen[planned.Branch] = true
		rules = append(rules, rule)
	}
	return rules, nil
}
