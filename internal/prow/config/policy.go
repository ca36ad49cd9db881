package config

import (
	"slices"

	"salve/internal/diagnostic"
)

// Level is where in the configuration something is said.
type Level string

// The levels, from wide to narrow, and what is no level.
const (
	LevelGlobal Level = "global"
	LevelOrg    Level = "org"
	LevelRepo   Level = "repo"
	LevelBranch Level = "branch"
	// LevelJob is a job that Prow requires the context of.
	LevelJob Level = "job"
	// LevelSwitch is a switch such as protect-tested-repos.
	LevelSwitch Level = "switch"
)

// Origin is who says something, and where.
type Origin struct {
	Level    Level
	Position diagnostic.Position
}

// Setting is a value that may be left open.
type Setting[T any] struct {
	Set   bool
	Value T
	// Origin is meaningful where Set holds.
	Origin Origin
}

// Bool is a switch that may be left open.
type Bool = Setting[bool]

// on is whether it is set, and true.
func on(b Bool) bool { return b.Set && b.Value }

// off is whether it is set, and false.
func off(b Bool) bool { return b.Set && !b.Value }

// or is the child's value where it is set, the parent's otherwise.
func (parent Setting[T]) or(child Setting[T]) Setting[T] {
	if child.Set {
		return child
	}
	return parent
}

// Item is one entry of a list.
type Item struct {
	Value  string
	Origin Origin
}

// List is one that only grows from level to level. It is nil where nobody wrote one;
// an empty list that is written is not.
type List []Item

// Values are the entries, sorted, each once.
func (l List) Values() []string {
	values := make([]string, 0, len(l))
	for _, item := range l {
		values = append(values, item.Value)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// Origins are all that name a value, from global to branch.
func (l List) Origins(value string) []Origin {
	var origins []Origin
	for _, item := range l {
		if item.Value == value {
			origins = append(origins, item.Origin)
		}
	}
	return origins
}

// and is the union: a child can neither drop nor shorten.
func (l List) and(child List) List {
	if l == nil {
		return child
	}
	return append(l[:len(l):len(l)], child...)
}

// Policy is the protection that one level asks for, or several together.
type Policy struct {
	// Unmanaged keeps branchprotector away. Protect is open (no opinion), true, or
	// false, which removes protection.
	Unmanaged, Protect Bool
	// StatusChecks, Reviews and Restrictions are nil where no level speaks of them.
	StatusChecks *StatusChecks
	Reviews      *Reviews
	Restrictions *Restrictions

	EnforceAdmins                Bool
	RequireManuallyTriggeredJobs Bool
	RequiredLinearHistory        Bool
	AllowForcePushes             Bool
	AllowDeletions               Bool
	RequireSignedCommits         Bool

	// Include and Exclude are regular expressions of branch names.
	Include, Exclude List
}

// StatusChecks are the contexts that must be green.
type StatusChecks struct {
	Contexts List
	Strict   Bool
}

// Reviews are the approvals that a merge requires. Without Approvals branchprotector
// asks GitHub for none at all.
type Reviews struct {
	Approvals                   Setting[int]
	DismissStale, RequireOwners Bool
	Dismissal, Bypass           *Actors
}

// Actors are users, teams and apps.
type Actors struct{ Users, Teams, Apps List }

// Restrictions are who may push. Apps are ignored by a branchprotector without
// --enable-apps-restrictions, which refuses the branch if they are given.
type Restrictions = Actors

// Apply is the child merged into the policy (Policy.Apply of Prow).
func (p Policy) Apply(child Policy) Policy {
	return Policy{
		Unmanaged:                    p.Unmanaged.or(child.Unmanaged),
		Protect:                      p.Protect.or(child.Protect),
		StatusChecks:                 p.StatusChecks.apply(child.StatusChecks),
		Reviews:                      p.Reviews.apply(child.Reviews),
		Restrictions:                 p.Restrictions.apply(child.Restrictions),
		EnforceAdmins:                p.EnforceAdmins.or(child.EnforceAdmins),
		RequireManuallyTriggeredJobs: p.RequireManuallyTriggeredJobs.or(child.RequireManuallyTriggeredJobs),
		RequiredLinearHistory:        p.RequiredLinearHistory.or(child.RequiredLinearHistory),
		AllowForcePushes:             p.AllowForcePushes.or(child.AllowForcePushes),
		AllowDeletions:               p.AllowDeletions.or(child.AllowDeletions),
		RequireSignedCommits:         p.RequireSignedCommits.or(child.RequireSignedCommits),
		Include:                      p.Include.and(child.Include),
		Exclude:                      p.Exclude.and(child.Exclude),
	}
}

func (s *StatusChecks) apply(child *StatusChecks) *StatusChecks {
	if s == nil || child == nil {
		return either(s, child)
	}
	return &StatusChecks{Contexts: s.Contexts.and(child.Contexts), Strict: s.Strict.or(child.Strict)}
}

func (r *Reviews) apply(child *Reviews) *Reviews {
	if r == nil || child == nil {
		return either(r, child)
	}
	return &Reviews{
		Approvals:     r.Approvals.or(child.Approvals),
		DismissStale:  r.DismissStale.or(child.DismissStale),
		RequireOwners: r.RequireOwners.or(child.RequireOwners),
		Dismissal:     r.Dismissal.apply(child.Dismissal),
		Bypass:        r.Bypass.apply(child.Bypass),
	}
}

func (a *Actors) apply(child *Actors) *Actors {
	if a == nil || child == nil {
		return either(a, child)
	}
	return &Actors{Users: a.Users.and(child.Users), Teams: a.Teams.and(child.Teams), Apps: a.Apps.and(child.Apps)}
}

func either[T any](parent, child *T) *T {
	if child == nil {
		return parent
	}
	return child
}

// Defined is whether the policy says anything about a branch. Unmanaged and the
// branch expressions don't count.
func (p Policy) Defined() bool {
	return p.Protect.Set || p.StatusChecks != nil || p.Reviews != nil || p.Restrictions != nil ||
		p.EnforceAdmins.Set || p.RequireManuallyTriggeredJobs.Set || p.RequiredLinearHistory.Set ||
		p.AllowForcePushes.Set || p.AllowDeletions.Set || p.RequireSignedCommits.Set
}

// written is whether the level says anything at all.
func (p Policy) written() bool {
	return p.Defined() || p.Unmanaged.Set || len(p.Include) > 0 || len(p.Exclude) > 0
}

// Contexts are the required ones.
func (p Policy) Contexts() List {
	if p.StatusChecks == nil {
		return nil
	}
	return p.StatusChecks.Contexts
}
