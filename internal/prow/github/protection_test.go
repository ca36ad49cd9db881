package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/apierr"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
)

// full is a protection that uses every field.
func full() *githubsim.Protection {
	app := int64(15368)
	return &githubsim.Protection{
		RequiredStatusChecks: &githubsim.StatusChecks{Strict: true, Checks: []githubsim.Check{
			{Context: "build", AppID: &app}, {Context: "unit"},
		}},
		EnforceAdmins: true,
		RequiredPullRequestReviews: &githubsim.Reviews{
			Dismissal: &githubsim.Actors{Users: []string{"root"}, Teams: []string{"leads"}},
			Bypass:    &githubsim.Actors{Apps: []string{"releaser"}}, DismissStale: true, RequireCodeOwners: true,
			RequireLastPushApproval: true, Approvals: 2,
		},
		Restrictions: &githubsim.Actors{
			Users: []string{"root"}, Teams: []string{"leads"}, Apps: []string{"releaser"},
		},
		RequiredLinearHistory: true, AllowForcePushes: true, AllowDeletions: true, BlockCreations: true,
		RequiredConversationResolution: true, LockBranch: true, AllowForkSyncing: true, RequiredSignatures: true,
	}
}

func fullSettings() github.Settings {
	return github.Settings{
		StatusChecks: &github.StatusChecks{Strict: true, Checks: []github.Check{
			{Context: "build", App: 15368}, {Context: "unit"},
		}},
		EnforceAdmins: true,
		Reviews: &github.Reviews{
			Dismissal: &github.Actors{Users: []string{"root"}, Teams: []string{"leads"}},
			Bypass:    &github.Actors{Apps: []string{"releaser"}}, DismissStale: true, RequireCodeOwners: true,
			RequireLastPushApproval: true, Approvals: 2,
		},
		Restrictions:  &github.Actors{Users: []string{"root"}, Teams: []string{"leads"}, Apps: []string{"releaser"}},
		LinearHistory: true, AllowForcePushes: true, AllowDeletions: true, BlockCreations: true,
		ConversationResolution: true, LockBranch: true, AllowForkSyncing: true, Signatures: true,
	}
}

// TestLiveSettingsAreWrittenBackAsTheyAre: what was read and is written again changes nothing.
func TestLiveSettingsAreWrittenBackAsTheyAre(t *testing.T) {
	for name, protection := range map[string]*githubsim.Protection{
		"every field": full(), "nothing but protected": {}, "no contexts": githubsim.Require(),
		"nobody may push": {Restrictions: &githubsim.Actors{}},
		"reviews alone":   {RequiredPullRequestReviews: &githubsim.Reviews{}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := world()
				w.Repo("kube/widgets").Branch("main").Protection = protection
				b := newBench(t, w)
				before, err := b.client.Protection(t.Context(), b.branch(t, "main"))
				if err != nil || !before.Protected || len(before.Unknown) != 0 || before.ETag == "" {
					t.Fatalf("%+v, %v", before, err)
				}
				written, err := b.client.SetProtection(permitted(t), before.Branch, before.Settings)
				if err != nil {
					t.Fatal(err)
				}
				after, err := b.client.Protection(t.Context(), before.Branch)
				if err != nil {
					t.Fatal(err)
				}
				if string(after.Object) != string(before.Object) || after.ETag != before.ETag {
					t.Errorf("changed by writing it back:\n%s\n%s", before.Object, after.Object)
				}
				if diff := cmp.Diff(before.Settings, written.Settings); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestEveryFieldIsRead(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		w.Repo("kube/widgets").Branch("main").Protection = full()
		b := newBench(t, w)
		got, err := b.client.Protection(t.Context(), b.branch(t, "main"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fullSettings(), got.Settings); diff != "" {
			t.Error(diff)
		}
	})
}

// TestFieldsOfTomorrowAreNamed, because a whole write takes them away.
func TestFieldsOfTomorrowAreNamed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		protection := full()
		protection.Extra = map[string]any{
			"merge_on_mondays": map[string]any{"enabled": true},
			"lock_branch":      map[string]any{"enabled": true, "reason": "freeze"},
		}
		w.Repo("kube/widgets").Branch("main").Protection = protection
		b := newBench(t, w)
		got, err := b.client.Protection(t.Context(), b.branch(t, "main"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"lock_branch.reason", "merge_on_mondays"}, got.Unknown); diff != "" {
			t.Error(diff)
		}
	})
}

// TestUnprotectedIsGitHubsWordAlone: all other ways not to see a protection are errors.
func TestUnprotectedIsGitHubsWordAlone(t *testing.T) {
	for name, row := range map[string]struct {
		prepare func(*githubsim.World)
		fault   *githubsim.Fault
		token   string
		class   apierr.Class // empty: it is seen to be unprotected
		text    string
	}{
		"not protected": {},
		"protected by a ruleset alone": {prepare: func(w *githubsim.World) {
			w.Repo("kube/widgets").Rulesets = []githubsim.Ruleset{{ID: 7, Branches: []string{"main"}}}
		}},
		"no administrator": {token: "robot-token", class: apierr.Denied, text: "no administrator of kube/widgets"},
		"an app without the right": {prepare: func(w *githubsim.World) {
			w.Token("app", "salve[bot]").Installation = true
		}, token: "app", class: apierr.Denied, text: "administration=read"},
		"the branch went away": {prepare: func(w *githubsim.World) {
			delete(w.Repo("kube/widgets").Branches, "main")
		}, class: apierr.Missing, text: "branch not found"},
		"the plan has none": {prepare: func(w *githubsim.World) {
			w.Owners["kube"].Free, w.Repo("kube/widgets").Private = true, true
		}, class: apierr.Denied, text: "upgrade required"},
		"SAML": {prepare: func(w *githubsim.World) {
			w.Tokens[token].SSO = []string{"kube"}
		}, class: apierr.Denied, text: "SAML single sign-on"},
		"the repository was renamed": {prepare: func(w *githubsim.World) {
			repo := w.Repo("kube/widgets")
			delete(w.Owners["kube"].Repositories, "widgets")
			repo.Renamed = []string{"widgets"}
			w.Owners["kube"].Repositories["gadgets"] = repo
		}, class: apierr.Terminal, text: "was renamed"},
		"a login page":   {fault: &githubsim.Fault{Plain: true}, class: apierr.Terminal, text: "not JSON but text/html"},
		"the token died": {token: "revoked", class: apierr.Denied, text: "unauthorized"},
		"GitHub is down": {fault: &githubsim.Fault{Status: 502, Message: "Server Error", Times: -1}, class: apierr.Transient,
			text: "server error: 502"},
		"connections are cut": {fault: &githubsim.Fault{Cut: githubsim.CutBefore, Times: -1}, class: apierr.Transient,
			text: "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				b := newBench(t, world())
				branch := b.branch(t, "main")
				if row.prepare != nil {
					b.sim.Update(row.prepare)
				}
				if row.fault != nil {
					b.sim.Inject(*row.fault)
				}
				client := b.client
				if row.token != "" {
					client = newClient(t, b.sim, as(row.token))
				}
				got, err := client.Protection(t.Context(), branch)
				switch {
				case row.class == "" && (err != nil || got.Protected):
					t.Errorf("%+v, %v", got, err)
				case row.class != "" && (apierr.ClassOf(err) != row.class || !strings.Contains(err.Error(), row.text)):
					t.Errorf("class %s: %v", apierr.ClassOf(err), err)
				}
			})
		})
	}
}

func TestProtectionNeedsABranchThatWasRead(t *testing.T) {
	b := newBench(t, world())
	made := github.Branch{Repo: widgets, Name: "main"}
	if _, err := b.client.Protection(t.Context(), made); apierr.ClassOf(err) != apierr.Terminal {
		t.Errorf("read: %v", err)
	}
	if _, err := b.client.SetProtection(permitted(t), made, github.Settings{}); apierr.ClassOf(err) != apierr.Terminal {
		t.Errorf("written: %v", err)
	}
	if calls := b.sim.Calls(); len(calls) != 0 {
		t.Errorf("%d calls", len(calls))
	}
}

// TestChangesNeedAPermit: none leaves without one, and GraphQL is not exempt.
func TestChangesNeedAPermit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		w.Repo("kube/widgets").Pull(1)
		b := newBench(t, w)
		branch := b.branch(t, "main")
		for name, change := range map[string]func() error{
			"set": func() error {
				_, err := b.client.SetProtection(t.Context(), branch, github.Settings{})
				return err
			},
			"remove":     func() error { return b.client.RemoveProtection(t.Context(), branch) },
			"signatures": func() error { return b.client.RequireSignatures(t.Context(), branch, true) },
			"comment": func() error {
				_, err := b.client.CreateComment(t.Context(), widgets, 1, "/test all")
				return err
			},
		} {
			if err := change(); apierr.ClassOf(err) != apierr.Conflict || !strings.Contains(err.Error(), "no permit") {
				t.Errorf("%s: class %s: %v", name, apierr.ClassOf(err), err)
			}
		}
		if changes := b.sim.Changes(); len(changes) != 0 {
			t.Errorf("sent: %+v", changes)
		}
	})
}

func TestRemoveAndSignatures(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		w.Repo("kube/widgets").Branch("main").Protection = githubsim.Require("unit")
		b := newBench(t, w)
		branch, ctx := b.branch(t, "main"), permitted(t)
		for _, required := range []bool{true, false} {
			if err := b.client.RequireSignatures(ctx, branch, required); err != nil {
				t.Fatal(err)
			}
			got, err := b.client.Protection(t.Context(), branch)
			if err != nil || got.Settings.Signatures != required {
				t.Errorf("required %v: %+v, %v", required, got.Settings, err)
			}
		}
		if err := b.client.RemoveProtection(ctx, branch); err != nil {
			t.Fatal(err)
		}
		if got, err := b.client.Protection(t.Context(), branch); err != nil || got.Protected {
			t.Errorf("%+v, %v", got, err)
		}
		err := b.client.RemoveProtection(ctx, branch)
		if !errors.Is(err, github.ErrNotProtected) || apierr.ClassOf(err) != apierr.Missing {
			t.Errorf("removed twice: class %s: %v", apierr.ClassOf(err), err)
		}
	})
}

// TestLostChangeIsNeverRepeated: it may have happened, and says so.
func TestLostChangeIsNeverRepeated(t *testing.T) {
	for name, row := range map[string]struct {
		fault    githubsim.Fault
		class    apierr.Class
		happened bool
	}{
		"the answer is lost":      {githubsim.Fault{Cut: githubsim.CutAfter, Times: -1}, apierr.Transient, true},
		"the answer is cut":       {githubsim.Fault{Cut: githubsim.CutBody, Times: -1}, apierr.Transient, true},
		"the connection is cut":   {githubsim.Fault{Cut: githubsim.CutBefore, Times: -1}, apierr.Transient, false},
		"502":                     {githubsim.Fault{Status: 502, Times: -1}, apierr.Transient, false},
		"the answer is too late":  {githubsim.Fault{Delay: 40e9, Times: -1}, apierr.Transient, false},
		"a page of a proxy":       {githubsim.Fault{Plain: true, Times: -1}, apierr.Transient, false},
		"a secondary rate limit":  {githubsim.Fault{Secondary: true, Times: -1}, apierr.Throttled, false},
		"the repository is moved": {githubsim.Fault{Status: 307, Times: -1}, apierr.Terminal, false},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				b := newBench(t, world())
				branch := b.branch(t, "main")
				row.fault.Method = http.MethodPut
				b.sim.Inject(row.fault)
				_, err := b.client.SetProtection(permitted(t), branch, github.Settings{LinearHistory: true})
				if apierr.ClassOf(err) != row.class {
					t.Errorf("class %s: %v", apierr.ClassOf(err), err)
				}
				if changes := b.sim.Changes(); len(changes) > 1 {
					t.Errorf("sent %d times", len(changes))
				}
				b.sim.Update(func(w *githubsim.World) {
					if happened := w.Repo("kube/widgets").Branch("main").Protection != nil; happened != row.happened {
						t.Errorf("happened: %v", happened)
					}
				})
			})
		})
	}
}

func TestSettingsRefuseWhatTheyCannotRead(t *testing.T) {
	for name, object := range map[string]string{
		"no object":                `[]`,
		"a flag that is a text":    `{"lock_branch": {"enabled": "yes"}}`,
		"a flag without an object": `{"lock_branch": true}`,
		"a user without a login":   `{"restrictions": {"users": [{"id": 1}]}}`,
		"contexts that are a text": `{"required_status_checks": {"contexts": "unit"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, _, err := github.ParseSettings([]byte(object)); err == nil {
				t.Errorf("read as %+v", got)
			}
		})
	}
}

// TestReadersSeeRequiredContexts although they may not see the protection.
func TestReadersSeeRequiredContexts(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := world()
		w.Repo("kube/widgets").Branch("main").Protection = full()
		b := newBench(t, w)
		reader := newClient(t, b.sim, as("robot-token"))
		branches, err := reader.Branches(t.Context(), widgets)
		if err != nil || len(branches) != 2 {
			t.Fatalf("%+v, %v", branches, err)
		}
		want := &github.StatusChecks{Checks: []github.Check{{Context: "build", App: 15368}, {Context: "unit"}}}
		if diff := cmp.Diff(want, branches[0].Required); diff != "" || !branches[0].Protected {
			t.Error(diff)
		}
		if got := branches[1].Required; got == nil || len(got.Checks) != 0 || branches[1].Protected {
			t.Errorf("of an unprotected branch: %+v", got)
		}
		if _, err := reader.Protection(t.Context(), branches[0]); apierr.ClassOf(err) != apierr.Denied {
			t.Error(err)
		}
	})
}

// TestOddAddressesAreTheBranchsOwn: how GitHub writes a branch's name into an address differs.
func TestOddAddressesAreTheBranchsOwn(t *testing.T) {
	for address, own := range map[string]bool{
		"https://api.github.com/repos/kube/widgets/branches/feature/50%25/protection":   true,
		"https://api.github.com/repos/kube/widgets/branches/feature%2F50%25/protection": true,
		"https://api.github.com/repos/kube/widgets/branches/feature/50%/protection":     true,
		"https://ghe/api/v3/repos/Kube/Widgets/branches/feature/50%25/protection":       true,
		"https://api.github.com/repos/kube/widgets/branches/50%25/protection":           false,
		"https://api.github.com/repos/kube/widgets/branches/Feature/50%25/protection":   false,
		"https://api.github.com/repos/kube/gadgets/branches/feature/50%25/protection":   false,
		"": false,
	} {
		virtual(t, func(t *testing.T) {
			client := newClient(t, githubsim.New(githubsim.Options{}), answering(fmt.Sprintf(`{"url": %q}`, address)))
			_, err := client.Protection(t.Context(), github.Branch{Repo: widgets, Name: "feature/50%", SHA: "x"})
			if (err == nil) != own {
				t.Errorf("%s: %v", address, err)
			}
		})
	}
}
