package github

import (
	"cmp"
	"slices"
)

// Settings are what a classic protection demands, in the one form that a whole write has. The zero value demands
// nothing and protects all the same: GitHub's defaults, which forbid deletions and force pushes.
type Settings struct {
	// StatusChecks are the contexts that have to be green; nil: none are required.
	StatusChecks *StatusChecks
	// EnforceAdmins binds administrators, too.
	EnforceAdmins bool
	// Reviews are the approvals that it takes; nil: none.
	Reviews *Reviews
	// Restrictions name who may push; nil: everybody with write access. Empty lists: nobody.
	Restrictions *Actors

	LinearHistory          bool
	AllowForcePushes       bool
	AllowDeletions         bool
	BlockCreations         bool
	ConversationResolution bool
	LockBranch             bool
	AllowForkSyncing       bool
	// Signatures asks for signed commits. It has a write of its own, RequireSignatures: Request leaves it out.
	Signatures bool
}

// StatusChecks are required contexts.
type StatusChecks struct {
	// Strict asks that a pull request's branch is up to date with its base.
	Strict bool
	Checks []Check
}

// Contexts are the names of the checks, sorted, each once.
func (s *StatusChecks) Contexts() []string {
	if s == nil {
		return nil
	}
	var names []string
	for _, check := range s.Checks {
		names = append(names, check.Context)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// add adds a context that is known by its name alone, if it isn't there.
func (s *StatusChecks) add(name string) {
	if !slices.ContainsFunc(s.Checks, func(known Check) bool { return known.Context == name }) {
		s.Checks = append(s.Checks, Check{Context: name})
	}
}

// Check is one required context.
type Check struct {
	Context string
	// App is the ID of the GitHub App that alone may report it; zero: anybody may.
	App int64
}

// Reviews are required approvals.
type Reviews struct {
	// Dismissal names who may dismiss reviews; nil: everybody with write access.
	Dismissal *Actors
	// Bypass names who needs none; nil: nobody.
	Bypass                  *Actors
	DismissStale            bool
	RequireCodeOwners       bool
	RequireLastPushApproval bool
	Approvals               int
}

// Actors are logins of users, and slugs of teams and apps.
type Actors struct{ Users, Teams, Apps []string }

// Normal gives the same settings with each list sorted and without duplicates, so that equal settings are equal values.
func (s Settings) Normal() Settings {
	if s.StatusChecks != nil {
		checks := slices.Clone(s.StatusChecks.Checks)
		slices.SortFunc(checks, func(a, b Check) int {
			return cmp.Or(cmp.Compare(a.Context, b.Context), cmp.Compare(a.App, b.App))
		})
		s.StatusChecks = &StatusChecks{Strict: s.StatusChecks.Strict, Checks: slices.Compact(checks)}
	}
	if s.Reviews != nil {
		reviews := *s.Reviews
		reviews.Dismissal, reviews.Bypass = reviews.Dismissal.normal(), reviews.Bypass.normal()
		s.Reviews = &reviews
	}
	s.Restrictions = s.Restrictions.normal()
	return s
}

func (a *Actors) normal() *Actors {
	if a == nil {
		return nil
	}
	sorted := func(names []string) []string {
		names = slices.Sorted(slices.Values(names))
		return slices.Compact(names)
	}
	return &Actors{Users: sorted(a.Users), Teams: sorted(a.Teams), Apps: sorted(a.Apps)}
}
