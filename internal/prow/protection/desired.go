package protection

import (
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// Desired is the protection that a policy asks for, over the live one. Produced are the contexts that Prow's own
// presubmits of the repository report.
//
// Only fields that the policy speaks about change; branchprotector would write its defaults for the others. Required
// contexts are spoken about as soon as a level or a required job names one; where none does, those that Prow produces
// go, because an older program required them, and those of others stay.
func Desired(policy config.Policy, live github.Settings, produced []string) github.Settings {
	want := live
	want.StatusChecks = statusChecks(policy.StatusChecks, live.StatusChecks, produced)
	want.Reviews = reviews(policy.Reviews, live.Reviews)
	want.Restrictions = actors(policy.Restrictions, live.Restrictions)
	want.EnforceAdmins = valueOr(policy.EnforceAdmins, live.EnforceAdmins)
	want.LinearHistory = valueOr(policy.RequiredLinearHistory, live.LinearHistory)
	want.AllowForcePushes = valueOr(policy.AllowForcePushes, live.AllowForcePushes)
	want.AllowDeletions = valueOr(policy.AllowDeletions, live.AllowDeletions)
	want.Signatures = valueOr(policy.RequireSignedCommits, live.Signatures)
	return want.Normal()
}

// Without is a protection that no longer requires some contexts. All else stays.
func Without(live github.Settings, contexts []string) github.Settings {
	if live.StatusChecks == nil {
		return live
	}
	live.StatusChecks = kept(live.StatusChecks, func(context string) bool { return !slices.Contains(contexts, context) })
	return live.Normal()
}

func valueOr[T any](said config.Setting[T], live T) T {
	if said.Set {
		return said.Value
	}
	return live
}

func statusChecks(said *config.StatusChecks, live *github.StatusChecks, produced []string) *github.StatusChecks {
	if said == nil {
		if live == nil {
			return nil
		}
		return kept(live, func(context string) bool { return !slices.Contains(produced, context) })
	}
	want := &github.StatusChecks{}
	if live != nil {
		want.Strict = live.Strict
	}
	want.Strict = valueOr(said.Strict, want.Strict)
	for _, context := range said.Contexts.Values() {
		want.Checks = append(want.Checks, pinned(live, context)...)
	}
	return want
}

// kept are the checks whose contexts a condition holds for; nil when there were some and none is left, because an
// empty list still asks pull requests to be up to date.
func kept(live *github.StatusChecks, keep func(context string) bool) *github.StatusChecks {
	left := &github.StatusChecks{Strict: live.Strict}
	for _, check := range live.Checks {
		if keep(check.Context) {
			left.Checks = append(left.Checks, check)
		}
	}
	if len(left.Checks) == 0 && len(live.Checks) > 0 && !live.Strict {
		return nil
	}
	return left
}

// pinned are the checks of a context, with the apps that they are pinned to: Prow knows contexts by name alone, and a
// write without the app would let anybody report it.
func pinned(live *github.StatusChecks, context string) []github.Check {
	var checks []github.Check
	if live != nil {
		for _, check := range live.Checks {
			if check.Context == context {
				checks = append(checks, check)
			}
		}
	}
	if len(checks) == 0 {
		return []github.Check{{Context: context}}
	}
	return checks
}

// reviews without a number of approvals are no demand of their own: branchprotector warns of them and switches
// reviews off. The live number stays.
func reviews(said *config.Reviews, live *github.Reviews) *github.Reviews {
	switch {
	case said == nil, live == nil && !said.Approvals.Set:
		return live
	}
	want := github.Reviews{}
	if live != nil {
		want = *live
	}
	want.Approvals = valueOr(said.Approvals, want.Approvals)
	want.DismissStale = valueOr(said.DismissStale, want.DismissStale)
	want.RequireCodeOwners = valueOr(said.RequireOwners, want.RequireCodeOwners)
	want.Dismissal = actors(said.Dismissal, want.Dismissal)
	want.Bypass = actors(said.Bypass, want.Bypass)
	return &want
}

// actors are those that the configuration names. Apps that it says nothing about stay.
func actors(said *config.Actors, live *github.Actors) *github.Actors {
	if said == nil {
		return live
	}
	before := github.Actors{}
	if live != nil {
		before = *live
	}
	want := &github.Actors{
		Users: spelled(said.Users, before.Users), Teams: spelled(said.Teams, before.Teams), Apps: before.Apps,
	}
	if said.Apps != nil {
		want.Apps = spelled(said.Apps, before.Apps)
	}
	return want
}

// spelled are the names as GitHub spells them, where it has them: it does not tell upper from lower case.
func spelled(said config.List, live []string) []string {
	var names []string
	for _, name := range said.Values() {
		if i := slices.IndexFunc(live, func(one string) bool { return strings.EqualFold(one, name) }); i >= 0 {
			name = live[i]
		}
		names = append(names, name)
	}
	return names
}
