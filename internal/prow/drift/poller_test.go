package drift_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"salve/internal/prow/check"
	"salve/internal/prow/drift"
	"salve/internal/prow/finding"
	"salve/internal/prow/githubsim"
)

// TestEqualConfigurationIsQuiet, and after a day nothing is unknown but what nobody gave.
func TestEqualConfigurationIsQuiet(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.verdict(w.expects()["B7"], finding.Unknown, "watched since")
		time.Sleep(25 * time.Hour)
		verdicts := w.expects()
		for _, rule := range []string{"B2", "B3", "B4", "B6", "B7"} {
			w.verdict(verdicts[rule], finding.OK, "")
		}
		w.verdict(verdicts["B5"], finding.Unknown, "needs --live of Prow's own cluster")
		w.verdict(verdicts["B8"], finding.Unknown, "needs --live of Prow's own cluster")
		if changes := w.sim.Changes(); len(changes) > 0 {
			t.Errorf("polling changed %v", changes)
		}
	})
}

// TestUnchangedAnswersAreFree: a second poll takes nothing off the rate limit.
func TestUnchangedAnswersAreFree(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.expects()
		first := w.counted()
		w.sim.ForgetCalls()
		w.expects()
		if again := w.counted(); first == 0 || again != 0 {
			t.Errorf("%d requests, then %d", first, again)
		}
	})
}

func TestWhatGitHubHas(t *testing.T) {
	for name, test := range map[string]struct {
		change func(app *githubsim.Repository)
		want   []string
	}{
		"what an old branchprotector leaves": {func(app *githubsim.Repository) {
			app.Branch("main").Protection = githubsim.Require("cla", "docs", "unit")
		}, []string{"ALERT B3 org/app=main"}},
		"no protection": {func(app *githubsim.Repository) { app.Branch("main").Protection = nil },
			[]string{"WARN B3 org/app=main"}},
		"a branch that nobody has protected yet": {func(app *githubsim.Repository) { app.Branch("release/1.0") },
			[]string{"WARN B3 org/app=release/1.0"}},
		"a leftover of a former job": {func(app *githubsim.Repository) {
			app.Branch("wild").Protection = githubsim.Require("gone")
		}, []string{"ALERT B4 org/app=wild"}},
		"a ruleset that requires a conditional job": {func(app *githubsim.Repository) {
			app.Rulesets = []githubsim.Ruleset{{ID: 7, Branches: []string{"main"}, Checks: []githubsim.Check{{Context: "docs"}}}}
		}, []string{"ALERT B4 org/app=main ruleset 7"}},
		"a ruleset that requires what nobody reports": {func(app *githubsim.Repository) {
			app.Rulesets = []githubsim.Ruleset{{ID: 7, Branches: []string{"main"}, Checks: []githubsim.Check{{Context: "bot"}}}}
		}, []string{"ALERT B2 org/app context=bot"}},
		"a context that was never seen": {func(app *githubsim.Repository) { commits(app, "main", 20, "unit") },
			[]string{"ALERT B2 org/app context=cla"}},
		"one that only check runs have": {func(app *githubsim.Repository) {
			commits(app, "main", 20, "unit")
			app.Commit(app.Branch("main").Head).CheckRuns = []githubsim.CheckRun{{Name: "cla", Status: "in_progress"}}
		}, nil},
		"one that only an open pull request has": {func(app *githubsim.Repository) {
			commits(app, "main", 20, "unit")
			app.Pull(7).Head = githubsim.SHA("pull 7")
			app.Commit(githubsim.SHA("pull 7")).Statuses = []githubsim.Status{{Context: "cla", State: "pending"}}
		}, nil},
		"an archived repository": {func(app *githubsim.Repository) {
			app.Archived, app.Branch("main").Protection = true, nil
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := newWorld(t)
				w.app(test.change)
				w.expects(test.want...)
			})
		})
	}
}

// TestTooFewCommitsProveNothing about a context that none of them has.
func TestTooFewCommitsProveNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.app(func(app *githubsim.Repository) { app.Commit(githubsim.SHA("main 11")).Parent = "" })
		w.app(func(app *githubsim.Repository) {
			for _, commit := range app.Commits {
				commit.Statuses = []githubsim.Status{{Context: "unit", State: "success"}}
			}
		})
		w.verdict(w.expects()["B2"], finding.Unknown, `context "cla" on org/app=main: only 19 of 20 commits`)
	})
}

// TestReportsThatFailProveNothing: one commit that can't be read may be the one that has the context.
func TestReportsThatFailProveNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.app(func(app *githubsim.Repository) { commits(app, "main", 30, "unit") })
		w.sim.Inject(githubsim.Fault{Path: "/commits/" + githubsim.SHA("main 15") + "/check-runs", Times: -1,
			Status: http.StatusUnprocessableEntity, Message: "no"})
		w.verdict(w.expects()["B2"], finding.Unknown, "validation failed")
		w.sim.Heal()
		w.expects("ALERT B2 org/app context=cla")
	})
}

// TestLackOfRightsIsUnknown: GitHub answers 404 then, which is not «not protected».
func TestLackOfRightsIsUnknown(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.app(func(app *githubsim.Repository) {
			app.Collaborators = map[string]string{"root": "read"}
			app.Branch("other").Protection = githubsim.Require("cla", "docs", "unit")
		})
		// The contexts are named with the branch itself.
		verdicts := w.expects("ALERT B3 org/app=other")
		for _, rule := range []string{"B2", "B4", "B7"} {
			w.verdict(verdicts[rule], finding.Unknown, "the token's identity is no administrator of org/app")
		}
		w.verdict(verdicts["B3"], finding.Alert, "the token's identity is no administrator of org/app")
		asked := 0
		for _, call := range w.sim.Calls() {
			if strings.HasPrefix(call.Path, "/api/v3/repos/org/app/") && strings.HasSuffix(call.Path, "/protection") {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("rights are the repository's: asked %d times", asked)
		}
	})
}

// TestHiddenRepositoryIsUnknown: one that can't be seen may have all that rules look for.
func TestHiddenRepositoryIsUnknown(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.app(func(app *githubsim.Repository) { app.Private, app.Collaborators = true, nil })
		verdicts := w.expects()
		for _, rule := range []string{"B2", "B3", "B4", "B7"} {
			w.verdict(verdicts[rule], finding.Unknown, "org/app: ")
		}
	})
}

// TestReserveIsLeft: what does not fit is unknown until the reset, and seen after it.
func TestReserveIsLeft(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.requires("cla", "docs", "unit")
		w.options.Reserve = 100
		w.sim.Limit("root", 100)
		began := time.Now()
		verdicts := w.expects()
		for _, rule := range []string{"B2", "B3", "B4", "B7"} {
			w.verdict(verdicts[rule], finding.Unknown, "rate limit: 100 of 5000 requests left, the reserve; reset at ")
			w.verdict(verdicts[rule], finding.Unknown, began.Add(time.Hour+time.Second).UTC().Format(time.RFC3339))
		}
		if n := w.counted(); n != 0 {
			t.Errorf("%d requests, and none was left", n)
		}
		if time.Since(began) > time.Minute {
			t.Errorf("the poll was held up for %s", time.Since(began))
		}
		time.Sleep(2 * time.Hour)
		w.expects("ALERT B3 org/app=main")
	})
}

// TestProtectionComesBeforeReports: where the limit ends, what is worth more was read.
func TestProtectionComesBeforeReports(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.requires("cla", "docs", "unit")
		w.sim.Limit("root", 11)
		verdicts := w.expects("ALERT B3 org/app=main")
		w.verdict(verdicts["B3"], finding.Alert, "")
		w.verdict(verdicts["B2"], finding.Unknown, "rate limit")
	})
}

// TestRefusedTokenMakesAllUnknown: nothing is said of what nobody could look at.
func TestRefusedTokenMakesAllUnknown(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.sim.Update(func(world *githubsim.World) { world.Tokens = nil })
		verdicts := w.expects()
		for _, rule := range []string{"B2", "B3", "B4", "B7"} {
			w.verdict(verdicts[rule], finding.Unknown, "GitHub could not be asked: reading the rate limit: unauthorized")
		}
	})
}

// TestFlipIsSeen: what is repaired by hand and put back again, as on 5 February 2019.
func TestFlipIsSeen(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.requires("cla", "docs", "unit")
		w.expects("ALERT B3 org/app=main")
		time.Sleep(time.Hour)
		w.requires("cla", "unit")
		w.expects()
		time.Sleep(5 * time.Hour)
		w.requires("cla", "docs", "unit")
		w.expects("ALERT B3 org/app=main", "ALERT B7 org/app=main")
		w.requires("cla", "unit")
		time.Sleep(23 * time.Hour)
		w.expects("ALERT B7 org/app=main")
		time.Sleep(25 * time.Hour)
		w.verdict(w.expects()["B7"], finding.OK, "")
	})
}

// TestUnreadPollIsNoFlip: a poll that could not look is no change.
func TestUnreadPollIsNoFlip(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.expects()
		w.sim.Inject(githubsim.Fault{Path: "/branches/main/protection", Times: -1, Status: http.StatusNotFound,
			Message: "Not Found"})
		w.expects()
		w.sim.Heal()
		w.expects()
	})
}

// TestPollSaysWhatKeptItFromLooking, a panic included.
func TestPollSaysWhatKeptItFromLooking(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		for reason, facts := range map[string]func(context.Context) (check.Facts, error){
			"no such file": func(context.Context) (check.Facts, error) { return check.Facts{}, errors.New("no such file") },
			"out of range": func(context.Context) (check.Facts, error) { panic("out of range") },
			"could not be read as a whole": func(context.Context) (check.Facts, error) {
				return check.Facts{Now: load("plank: [")}, nil
			},
		} {
			poller, err := drift.NewPoller(drift.Options{GitHub: w.client(), Facts: facts})
			if err != nil {
				t.Fatal(err)
			}
			w.poller = poller
			for _, verdict := range w.expects() {
				w.verdict(verdict, finding.Unknown, reason)
			}
		}
		if _, err := drift.NewPoller(drift.Options{}); err == nil {
			t.Error("a poller of nothing")
		}
	})
}

// TestOrganizationThatIsProtectedAsAWhole: its repositories are listed, as branchprotector does.
func TestOrganizationThatIsProtectedAsAWhole(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.config = strings.Replace(today, "    org:\n", "    org:\n      protect: true\n", 1)
		w.sim.Update(func(world *githubsim.World) {
			world.Repo("org/unnamed").Collaborators = map[string]string{"root": "admin"}
		})
		w.expects("WARN B3 org/unnamed=main")
		w.refuses("/orgs/org/repos")
		w.verdict(w.expects()["B3"], finding.Unknown, "org: ")
	})
}
