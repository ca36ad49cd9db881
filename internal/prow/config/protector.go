package config

import (
	"errors"
	"regexp"
	"strings"
)

// Action is what branchprotector does with a branch.
type Action string

const (
	// Leave says that branchprotector doesn't touch the branch, whatever is in force on
	// GitHub.
	Leave Action = "leave"
	// Protect says that the whole protection is written as the policy says.
	Protect Action = "protect"
	// Unprotect says that protection is removed.
	Unprotect Action = "unprotect"
)

// Decision is what branchprotector does with a branch, and why.
type Decision struct {
	Action Action
	// Why says which setting decides, for Leave.
	Why string
	// Policy is what is written, for Protect.
	Policy Policy
}

// ProtectorFlags are those of the branchprotector in use that change what it decides.
type ProtectorFlags struct {
	// AppsRestrictions is --enable-apps-restrictions.
	AppsRestrictions bool
}

// Protector decides what branchprotector does with a branch that exists, in a
// repository that is neither archived nor a private security fork. The error is a
// *PolicyError: branchprotector then leaves the branch as it is and ends non-zero.
//
// (cmd/branchprotector/protect.go)
func (c *Config) Protector(branch Branch, flags ProtectorFlags) (Decision, error) {
	if why := c.notVisited(branch); why != "" {
		return Decision{Action: Leave, Why: why}, nil
	}
	excluded, err := c.Excluded(branch)
	if err != nil {
		return Decision{}, err
	}
	if excluded != "" {
		return Decision{Action: Leave, Why: excluded}, nil
	}
	policy, wrong := c.levels(branch)
	if wrong != nil {
		return Decision{}, wrong
	}
	if on(policy.Unmanaged) {
		return Decision{Action: Leave, Why: "unmanaged: true at level " + string(policy.Unmanaged.Origin.Level)}, nil
	}
	policy, err = c.Policy(branch)
	switch {
	case errors.Is(err, ErrNoPolicy):
		return Decision{Action: Leave, Why: "no policy"}, nil
	case err != nil:
		return Decision{}, err
	case !policy.Protect.Set:
		return Decision{Action: Leave, Why: "protect is not set at any level"}, nil
	case policy.Restrictions != nil && policy.Restrictions.Apps != nil && !flags.AppsRestrictions:
		return Decision{}, &PolicyError{Branch: branch, Reason: ReasonApps, Origin: policy.Protect.Origin}
	case !policy.Protect.Value:
		return Decision{Action: Unprotect}, nil
	}
	return Decision{Action: Protect, Policy: policy}, nil
}

// notVisited says why branchprotector doesn't look at a repository; empty where it
// does. Unmanaged keeps it away from a level, unless something below says
// unmanaged: false.
func (c *Config) notVisited(branch Branch) string {
	bp := c.BranchProtection
	if on(bp.Unmanaged) && !bp.managedBelow() {
		return "unmanaged: true at level global"
	}
	org, configured := bp.Orgs[branch.Org]
	above := bp.Policy.Apply(org.Policy)
	repo, named := org.Repos[branch.Repo]
	_, tested := c.Presubmits[branch.Repository()]
	visited := configured && (named || above.Protect.Set) && !(on(above.Unmanaged) && !org.managedBelow())
	switch {
	case !visited && !(tested && on(bp.ProtectTested)):
		if configured && on(above.Unmanaged) {
			return "unmanaged: true at level " + string(above.Unmanaged.Origin.Level)
		}
		return "neither named in branch-protection nor covered by protect of its org or protect-tested-repos"
	case on(above.Apply(repo.Policy).Unmanaged) && !repo.managedBelow():
		return "unmanaged: true at level " + string(above.Apply(repo.Policy).Unmanaged.Origin.Level)
	}
	return ""
}

func (bp BranchProtection) managedBelow() bool {
	for _, org := range bp.Orgs {
		if off(org.Unmanaged) || org.managedBelow() {
			return true
		}
	}
	return false
}

func (o OrgPolicy) managedBelow() bool {
	for _, repo := range o.Repos {
		if off(repo.Unmanaged) || repo.managedBelow() {
			return true
		}
	}
	return false
}

func (r RepoPolicy) managedBelow() bool {
	for _, branch := range r.Branches {
		if off(branch.Unmanaged) {
			return true
		}
	}
	return false
}

// Excluded says which include or exclude keeps branchprotector away from a branch;
// empty where none does. Those of all levels down to the repository are joined; a
// branch that is listed by name is never kept out, and with include, exclude doesn't
// count. The error is a *PolicyError.
func (c *Config) Excluded(branch Branch) (string, error) {
	bp := c.BranchProtection
	org := bp.Orgs[branch.Org]
	repo := org.Repos[branch.Repo]
	policy := bp.Policy.Apply(org.Policy).Apply(repo.Policy)
	included, err := matches(policy.Include, branch)
	if err != nil {
		return "", err
	}
	excluded, err := matches(policy.Exclude, branch)
	if err != nil {
		return "", err
	}
	if _, listed := repo.Branches[branch.Name]; listed {
		return "", nil
	}
	switch {
	case len(policy.Include) > 0 && !included:
		return "not matched by include", nil
	case len(policy.Include) == 0 && excluded:
		return "matched by exclude", nil
	}
	return "", nil
}

// matches is whether any of the expressions matches the branch: Prow joins them to
// one.
func matches(expressions List, branch Branch) (bool, error) {
	if len(expressions) == 0 {
		return false, nil
	}
	matched, err := regexp.MatchString(strings.Join(expressions.union(), "|"), branch.Name)
	if err != nil {
		return false, &PolicyError{Branch: branch, Reason: ReasonExpressions, Origin: expressions[0].Origin, cause: err}
	}
	return matched, nil
}

// union has the order that Prow's has: as written, or sorted where several levels
// wrote. It matters to a flag in an expression, which holds for those behind it.
func (l List) union() []string {
	texts := make([]string, 0, len(l))
	for _, item := range l {
		if item.Origin.Level != l[0].Origin.Level {
			return l.Values()
		}
		texts = append(texts, item.Value)
	}
	return texts
}
