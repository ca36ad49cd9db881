package github_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
)

// TestAnyProtectionIsWrittenBackAsItIs: random ones, each read, written back and read again.
func TestAnyProtectionIsWrittenBackAsItIs(t *testing.T) {
	virtual(t, func(t *testing.T) {
		random := rand.New(rand.NewSource(12))
		b := newBench(t, world())
		branch := b.branch(t, "main")
		for range 300 {
			protection := anyProtection(random)
			b.sim.Update(func(w *githubsim.World) { w.Repo("kube/widgets").Branch("main").Protection = protection })
			before, err := b.client.Protection(t.Context(), branch)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.client.SetProtection(permitted(t), branch, before.Settings); err != nil {
				t.Fatal(err)
			}
			after, err := b.client.Protection(t.Context(), branch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(before.Object), string(after.Object)); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func anyProtection(random *rand.Rand) *githubsim.Protection {
	flip := func() bool { return random.Intn(2) == 0 }
	names := func(of string) (found []string) {
		for i := range random.Intn(3) {
			found = append(found, fmt.Sprintf("%s-%d", of, i))
		}
		return found
	}
	actors := func() *githubsim.Actors {
		if flip() {
			return nil
		}
		return &githubsim.Actors{Users: names("user"), Teams: names("team"), Apps: names("app")}
	}
	p := &githubsim.Protection{
		EnforceAdmins: flip(), RequiredLinearHistory: flip(), AllowForcePushes: flip(), AllowDeletions: flip(),
		BlockCreations: flip(), RequiredConversationResolution: flip(), LockBranch: flip(), AllowForkSyncing: flip(),
		RequiredSignatures: flip(), Restrictions: actors(),
	}
	if flip() {
		p.RequiredStatusChecks = &githubsim.StatusChecks{Strict: flip()}
		for i, context := range names("context / ä") {
			check := githubsim.Check{Context: context}
			if flip() {
				check.AppID = new(int64(i + 1))
			}
			p.RequiredStatusChecks.Checks = append(p.RequiredStatusChecks.Checks, check)
		}
	}
	if flip() {
		p.RequiredPullRequestReviews = &githubsim.Reviews{
			Dismissal: actors(), Bypass: actors(), DismissStale: flip(), RequireCodeOwners: flip(),
			RequireLastPushApproval: flip(), Approvals: random.Intn(7),
		}
	}
	return p
}

// TestEqualSettingsAreEqualValues whatever the order of their lists.
func TestEqualSettingsAreEqualValues(t *testing.T) {
	one := github.Settings{
		StatusChecks: &github.StatusChecks{Checks: []github.Check{{Context: "b"}, {Context: "a", App: 2}, {Context: "a"}}},
		Restrictions: &github.Actors{Teams: []string{"y", "x", "y"}},
	}
	two := github.Settings{
		StatusChecks: &github.StatusChecks{Checks: []github.Check{
			{Context: "a"}, {Context: "a", App: 2}, {Context: "b"}, {Context: "b"},
		}},
		Restrictions: &github.Actors{Teams: []string{"x", "y"}},
	}
	if diff := cmp.Diff(one.Normal(), two.Normal()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, one.StatusChecks.Contexts()); diff != "" {
		t.Error(diff)
	}
	if one.StatusChecks.Checks[0].Context != "b" || one.Restrictions.Teams[0] != "y" {
		t.Error("the original was changed")
	}
}

// TestContextsKeepTheirSource: no context becomes pinned to an app by being written back.
func TestContextsKeepTheirSource(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		repo := w.Repo("kube/widgets")
		repo.Branch("main").Protection = githubsim.Require("unit")
		repo.Commit(repo.Branch("main").Head).CheckRuns = []githubsim.CheckRun{
			{Name: "unit", Status: "completed", Conclusion: "success", App: "actions", AppID: 15368},
		}
		b := newBench(t, w)
		live, err := b.client.Protection(t.Context(), b.branch(t, "main"))
		if err != nil {
			t.Fatal(err)
		}
		written, err := b.client.SetProtection(permitted(t), live.Branch, live.Settings)
		if err != nil || written.Settings.StatusChecks.Checks[0].App != 0 {
			t.Errorf("%+v, %v", written.Settings.StatusChecks, err)
		}
	})
}

// FuzzParseSettings: whatever is read can be written, and reads the same.
func FuzzParseSettings(f *testing.F) {
	f.Add(`{"required_status_checks": {"strict": true, "contexts": ["a"], "checks": [{"context": "a", "app_id": -1}]}}`)
	f.Add(`{"restrictions": {"users": [{"login": "u"}], "teams": null}, "required_pull_request_reviews": {}}`)
	f.Add(`{"enforce_admins": {"enabled": true}, "lock_branch": null, "name": "x", "new": 1}`)
	f.Fuzz(func(t *testing.T, object string) {
		settings, _, err := github.ParseSettings([]byte(object))
		if err != nil {
			return
		}
		if !json.Valid(settings.Request()) {
			t.Errorf("written as %s", settings.Request())
		}
		if diff := cmp.Diff(settings, settings.Normal()); diff != "" {
			t.Error(diff)
		}
	})
}
