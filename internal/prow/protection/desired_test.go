package protection_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
)

func set[T any](value T) config.Setting[T] { return config.Setting[T]{Set: true, Value: value} }

func list(values ...string) config.List {
	items := config.List{}
	for _, value := range values {
		items = append(items, config.Item{Value: value})
	}
	return items
}

func contexts(names ...string) *github.StatusChecks {
	checks := &github.StatusChecks{}
	for _, name := range names {
		checks.Checks = append(checks.Checks, github.Check{Context: name})
	}
	return checks
}

func required(names ...string) *config.StatusChecks {
	return &config.StatusChecks{Contexts: list(names...)}
}

func TestDesired(t *testing.T) {
	for rule, row := range map[string]struct {
		policy config.Policy
		live   github.Settings
		want   github.Settings
	}{
		"what the configuration says nothing about stays": {
			live: github.Settings{StatusChecks: contexts("license/cla"), EnforceAdmins: true, LinearHistory: true,
				Reviews: &github.Reviews{Approvals: 2, RequireLastPushApproval: true}, LockBranch: true,
				Restrictions: &github.Actors{Apps: []string{"bot"}}, ConversationResolution: true, Signatures: true},
			want: github.Settings{StatusChecks: contexts("license/cla"), EnforceAdmins: true, LinearHistory: true,
				Reviews: &github.Reviews{Approvals: 2, RequireLastPushApproval: true}, LockBranch: true,
				Restrictions: &github.Actors{Apps: []string{"bot"}}, ConversationResolution: true, Signatures: true},
		},
		"contexts that an old program required go": {
			policy: config.Policy{StatusChecks: required("always")},
			live:   github.Settings{StatusChecks: contexts("always", "sometimes")},
			want:   github.Settings{StatusChecks: contexts("always")},
		},
		"so they do where no context is to be required": {
			live: github.Settings{StatusChecks: contexts("license/cla", "sometimes")},
			want: github.Settings{StatusChecks: contexts("license/cla")},
		},
		"and the last of them takes the demand with it": {
			live: github.Settings{StatusChecks: contexts("sometimes")},
		},
		"but not that a pull request is up to date": {
			live: github.Settings{StatusChecks: &github.StatusChecks{Strict: true,
				Checks: []github.Check{{Context: "sometimes"}}}},
			want: github.Settings{StatusChecks: &github.StatusChecks{Strict: true}},
		},
		"an app that a context is pinned to stays": {
			policy: config.Policy{StatusChecks: required("always", "new")},
			live:   github.Settings{StatusChecks: &github.StatusChecks{Checks: []github.Check{{Context: "always", App: 7}}}},
			want: github.Settings{StatusChecks: &github.StatusChecks{
				Checks: []github.Check{{Context: "always", App: 7}, {Context: "new"}}}},
		},
		"strict is taken from the configuration where it says so": {
			policy: config.Policy{StatusChecks: &config.StatusChecks{Contexts: list("a"), Strict: set(false)}},
			live:   github.Settings{StatusChecks: &github.StatusChecks{Strict: true}},
			want:   github.Settings{StatusChecks: contexts("a")},
		},
		"a switch that is set wins, also when it is off": {
			policy: config.Policy{EnforceAdmins: set(false), AllowDeletions: set(true), RequireSignedCommits: set(true),
				RequiredLinearHistory: set(true), AllowForcePushes: set(false)},
			live: github.Settings{EnforceAdmins: true, AllowForcePushes: true},
			want: github.Settings{AllowDeletions: true, Signatures: true, LinearHistory: true},
		},
		"reviews change only where they are spoken about": {
			policy: config.Policy{Reviews: &config.Reviews{Approvals: set(1), DismissStale: set(true)}},
			live:   github.Settings{Reviews: &github.Reviews{Approvals: 3, RequireCodeOwners: true}},
			want:   github.Settings{Reviews: &github.Reviews{Approvals: 1, RequireCodeOwners: true, DismissStale: true}},
		},
		"reviews without a number ask for none": {
			policy: config.Policy{Reviews: &config.Reviews{DismissStale: set(true)}},
		},
		"and keep the number that is in force": {
			policy: config.Policy{Reviews: &config.Reviews{DismissStale: set(true)}},
			live:   github.Settings{Reviews: &github.Reviews{Approvals: 2}},
			want:   github.Settings{Reviews: &github.Reviews{Approvals: 2, DismissStale: true}},
		},
		"who may push is what the configuration names, and apps stay": {
			policy: config.Policy{Restrictions: &config.Restrictions{Teams: list("leads")}},
			live:   github.Settings{Restrictions: &github.Actors{Users: []string{"eve"}, Apps: []string{"bot"}}},
			want:   github.Settings{Restrictions: &github.Actors{Teams: []string{"leads"}, Apps: []string{"bot"}}},
		},
		"unless it names apps": {
			policy: config.Policy{Restrictions: &config.Restrictions{Apps: list("other")}},
			live:   github.Settings{Restrictions: &github.Actors{Apps: []string{"bot"}}},
			want:   github.Settings{Restrictions: &github.Actors{Apps: []string{"other"}}},
		},
		"a login is the same in capitals": {
			policy: config.Policy{Restrictions: &config.Restrictions{Users: list("alice")}},
			live:   github.Settings{Restrictions: &github.Actors{Users: []string{"Alice"}}},
			want:   github.Settings{Restrictions: &github.Actors{Users: []string{"Alice"}}},
		},
	} {
		t.Run(rule, func(t *testing.T) {
			got := protection.Desired(row.policy, row.live, []string{"always", "sometimes"})
			if differences := protection.Differences(got, row.want); len(differences) > 0 {
				t.Errorf("it differs from what is to be: %v\n%s", differences, cmp.Diff(row.want.Normal(), got))
			}
			again := protection.Desired(row.policy, got, []string{"always", "sometimes"})
			if differences := protection.Differences(got, again); len(differences) > 0 {
				t.Errorf("asked of itself it changes again: %v", differences)
			}
		})
	}
}

func TestDesiredLeavesTheLiveObjectAlone(t *testing.T) {
	live := github.Settings{StatusChecks: contexts("b", "a"), Reviews: &github.Reviews{Approvals: 2}}
	before := cmp.Diff(live, github.Settings{})
	protection.Desired(config.Policy{StatusChecks: required("c"), Reviews: &config.Reviews{Approvals: set(1)}}, live, nil)
	if after := cmp.Diff(live, github.Settings{}); after != before {
		t.Errorf("it was\n%s and is\n%s", before, after)
	}
}

func TestWithoutTakesOnlyTheseContexts(t *testing.T) {
	live := github.Settings{StatusChecks: contexts("a", "b"), EnforceAdmins: true}
	got := protection.Without(live, []string{"b", "c"})
	want := github.Settings{StatusChecks: contexts("a"), EnforceAdmins: true}
	if differences := protection.Differences(got, want); len(differences) > 0 {
		t.Errorf("it differs: %v", differences)
	}
	if got := protection.Without(github.Settings{}, []string{"a"}); got.StatusChecks != nil {
		t.Errorf("of nothing it made %v", got.StatusChecks)
	}
}

func TestDifferencesNameEachField(t *testing.T) {
	live := github.Settings{StatusChecks: contexts("b", "a"), Reviews: &github.Reviews{Approvals: 1}}
	want := github.Settings{StatusChecks: &github.StatusChecks{Strict: true,
		Checks: []github.Check{{Context: "a", App: 7}}}, EnforceAdmins: true, Restrictions: &github.Actors{}}
	var got []string
	for _, difference := range protection.Differences(live, want) {
		got = append(got, difference.String())
	}
	said := []string{
		"required_status_checks.checks: [a, b] → [a (app 7)]",
		"required_status_checks.strict: false → true",
		`required_pull_request_reviews: {"Dismissal":null,"Bypass":null,"DismissStale":false,"RequireCodeOwners":false,` +
			`"RequireLastPushApproval":false,"Approvals":1} → none`,
		`restrictions: everybody → {"Users":null,"Teams":null,"Apps":null}`,
		"enforce_admins: false → true",
	}
	if diff := cmp.Diff(said, got); diff != "" {
		t.Error(diff)
	}
	if added, removed := protection.Added(live, want), protection.Removed(live, want); len(added) != 0 ||
		!cmp.Equal(removed, []string{"b"}) {
		t.Errorf("added %v, removed %v", added, removed)
	}
}
