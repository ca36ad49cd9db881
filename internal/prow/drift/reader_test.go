package drift_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"salve/internal/clock"
	"salve/internal/prow/check"
	"salve/internal/prow/drift"
	"salve/internal/prow/finding"
	"salve/internal/prow/githubsim"
)

// reads is one reading of GitHub, with open pull requests.
func (w *world) reads(ctx context.Context) *check.GitHub {
	facts, err := w.facts(ctx)
	if err != nil {
		w.Fatal(err)
	}
	return (&drift.Reader{GitHub: w.client(), Clock: clock.Real{}, Changes: true}).Read(ctx, facts)
}

// asked are the requests whose path holds a text.
func (w *world) asked(text string) int {
	n := 0
	for _, call := range w.sim.Calls() {
		if strings.Contains(call.Path, text) {
			n++
		}
	}
	return n
}

// refuses lets requests fail whose path holds a text.
func (w *world) refuses(path string) {
	w.sim.Inject(githubsim.Fault{Path: path, Times: -1, Status: http.StatusForbidden, Message: "no"})
}

// TestRefusalsAreToldOfWhatTheyKeepFromView, and of nothing else.
func TestRefusalsAreToldOfWhatTheyKeepFromView(t *testing.T) {
	ghost := func(w *world) { w.app(func(app *githubsim.Repository) { commits(app, "main", 20, "unit") }) }
	for path, test := range map[string]struct {
		given func(w *world)
		want  map[string]string
	}{
		"/repos/org/app/branches?": {nil, map[string]string{"B2": "org/app: ", "B3": "org/app: ", "B4": "org/app: ",
			"B6": "org/app: "}},
		"/rules/branches/wild": {nil, map[string]string{"B2": "rulesets of org/app=wild: ",
			"B4": "rulesets of org/app=wild: "}},
		"/commits?": {nil, map[string]string{"B2": `context "cla" on org/app=main: reading the head commits`}},
		"/pulls?": {ghost, map[string]string{"B2": `context "cla" on org/app=main: listing the open pull requests`,
			"B6": "pull requests of org/app: listing the open pull requests"}},
		"/rate_limi": {nil, map[string]string{"B2": "GitHub could not", "B3": "GitHub could not", "B4": "GitHub could not",
			"B5": "GitHub could not", "B6": "GitHub could not"}},
	} {
		t.Run(path, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := newWorld(t)
				if test.given != nil {
					test.given(w)
				}
				w.refuses(path)
				for rule, verdict := range w.expects() {
					switch {
					case test.want[rule] != "":
						w.verdict(verdict, finding.Unknown, test.want[rule])
						w.verdict(verdict, finding.Unknown, "forbidden")
					case rule == "B5":
						w.verdict(verdict, finding.Unknown, "needs --live of Prow's own cluster")
					case rule < "B7":
						w.verdict(verdict, finding.OK, "")
					}
				}
			})
		})
	}
}

// TestRepositoryThatCantBeReadIsLeftAlone: whether it is archived is not known.
func TestRepositoryThatCantBeReadIsLeftAlone(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.sim.Inject(githubsim.Fault{Path: "/repos/org/app", Status: http.StatusForbidden, Message: "no"})
		w.verdict(w.expects()["B3"], finding.Unknown, "org/app: ")
		if n := w.asked("/repos/org/app/"); n != 0 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestArchivedRepositoriesOfAListCostNothing.
func TestArchivedRepositoriesOfAListCostNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.config = strings.Replace(today, "    org:\n", "    org:\n      protect: true\n", 1)
		w.app(func(app *githubsim.Repository) { app.Archived = true })
		w.expects()
		if n := w.asked("/repos/org/app"); n != 0 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestSearchEndsWithTheLastContext: no commit is read for nothing.
func TestSearchEndsWithTheLastContext(t *testing.T) {
	pull := func(app *githubsim.Repository, number int, contexts ...string) {
		app.Pull(number).Head = githubsim.SHA(fmt.Sprint("pull ", number))
		app.Pull(number).Created = time.Now().Add(time.Duration(number) * time.Minute)
		for _, context := range contexts {
			commit := app.Commit(app.Pull(number).Head)
			commit.Statuses = append(commit.Statuses, githubsim.Status{Context: context, State: "success"})
		}
	}
	for name, test := range map[string]struct {
		change         func(app *githubsim.Repository)
		commits, lists int
	}{
		"on the head": {func(*githubsim.Repository) {}, 1, 0},
		"on the last that counts": {func(app *githubsim.Repository) {
			commits(app, "main", 30, "unit")
			app.Commit(githubsim.SHA("main 10")).Statuses = []githubsim.Status{{Context: "cla", State: "success"}}
		}, 20, 0},
		"on the newest pull request": {func(app *githubsim.Repository) {
			commits(app, "main", 30, "unit")
			pull(app, 1, "cla")
			pull(app, 2, "cla")
		}, 20, 1},
		"on an older one": {func(app *githubsim.Repository) {
			commits(app, "main", 30, "unit")
			pull(app, 1, "cla")
			pull(app, 2, "unit")
		}, 20, 1},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := newWorld(t)
				w.app(test.change)
				w.verdict(w.expects()["B2"], finding.OK, "")
				heads, open := w.asked("/status"), 0
				w.app(func(app *githubsim.Repository) { open = len(app.Pulls) })
				// The pull requests of both repositories are listed, and looked at, for B6: each once for both.
				if lists := w.asked("/pulls?"); heads != test.commits+open || lists != test.lists+2 {
					t.Errorf("%d heads, %d lists of pull requests", heads, lists)
				}
			})
		})
	}
}

// TestPullRequestThatCantBeReadProvesNothing: it may be the one that has the context.
func TestPullRequestThatCantBeReadProvesNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.app(func(app *githubsim.Repository) {
			commits(app, "main", 30, "unit")
			app.Pull(7).Head = githubsim.SHA("pull 7")
		})
		w.refuses("/commits/" + githubsim.SHA("pull 7") + "/status")
		w.verdict(w.expects()["B2"], finding.Unknown, "forbidden")
	})
}

// TestSecondaryLimit: GitHub asks for a pause, which is longer than the poll waits.
func TestSecondaryLimit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.sim.Inject(githubsim.Fault{Path: "/repos/", Times: -1, Secondary: true, RetryAfter: time.Hour})
		until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		w.verdict(w.expects()["B3"], finding.Unknown, "GitHub asked for a pause until "+until)
		if n := w.asked("/repos/"); n > 2 { // two at once
			t.Errorf("asked %d times", n)
		}
	})
}

// TestPausesOfAMinuteAreWaitedOut: GitHub asks for one after many requests in a minute, the free ones included.
func TestPausesOfAMinuteAreWaitedOut(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		world := githubsim.World{}
		w.sim.Update(func(of *githubsim.World) { world = *of })
		w.sim = githubsim.New(githubsim.Options{World: &world, PointsPerMinute: 5})
		w.options.Transport = w.sim.Transport()
		w.config = strings.Replace(today, "    org:\n", "    org:\n      protect: true\n", 1)
		began := time.Now()
		verdicts := w.expects()
		for _, rule := range []string{"B2", "B3", "B4"} {
			w.verdict(verdicts[rule], finding.OK, "")
		}
		if took := time.Since(began); took < time.Minute || took > 9*time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

// TestServerWithoutALimit: a GitHub Enterprise Server may have none.
func TestServerWithoutALimit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.sim.Inject(githubsim.Fault{Path: "/rate_limit", Times: -1, Status: http.StatusNotFound,
			Message: "Rate limiting is not enabled."})
		w.verdict(w.expects()["B3"], finding.OK, "")
	})
}

// TestHalfAConfigurationAsksNothing: it doesn't say what to look at.
func TestHalfAConfigurationAsksNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.config = "plank: ["
		if seen := w.reads(t.Context()); seen.Failed == "" || len(w.sim.Calls()) > 0 {
			t.Errorf("%+v", seen)
		}
	})
}

// TestOpenPullRequestsOfAChange are read where a change is looked at, and only for branches that it is about.
func TestOpenPullRequestsOfAChange(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.config = strings.Replace(today, "run_if_changed: ^docs/", "always_run: true", 1)
		var want []int
		w.app(func(app *githubsim.Repository) {
			for number := 10; number < 40; number++ {
				want = append(want, number)
				app.Pull(number).Head = githubsim.SHA(fmt.Sprint("pull ", number))
				app.Commit(app.Pull(number).Head).Statuses = []githubsim.Status{{Context: "unit", State: "success"}}
			}
			app.Pull(8).Draft = true
			app.Pull(9).Base = "wild"
		})
		seen := w.reads(t.Context())
		var got []int
		for _, pull := range seen.Pulls {
			got = append(got, pull.Number)
		}
		if !slices.Equal(got, want) || len(seen.PullsUnread) > 0 || !slices.Equal(seen.Pulls[0].Contexts, []string{"unit"}) {
			t.Errorf("%v, unread %v", got, seen.PullsUnread)
		}

		w.refuses("/commits/" + githubsim.SHA("pull 12") + "/status")
		seen = w.reads(t.Context())
		if len(seen.Pulls) != len(want)-1 || !strings.Contains(seen.PullsUnread["org/app#12"], "forbidden") {
			t.Errorf("%d, unread %v", len(seen.Pulls), seen.PullsUnread)
		}

		w.refuses("/pulls")
		seen = w.reads(t.Context())
		if len(seen.Pulls) > 0 || !strings.Contains(seen.PullsUnread["pull requests for org/app=main"], "forbidden") {
			t.Errorf("%+v, unread %v", seen.Pulls, seen.PullsUnread)
		}
	})
}

// crowd is an organization with many repositories, each of which requires what nobody reports.
func (w *world) crowd(many int) {
	var names strings.Builder
	w.sim.Update(func(world *githubsim.World) {
		for n := range many {
			name := fmt.Sprintf("r%d", 100+n)
			repo := world.Repo("org/" + name)
			repo.Collaborators = map[string]string{"root": "admin"}
			repo.Branch("main").Protection = githubsim.Require("ghost")
			fmt.Fprintf(&names, "        %s: {protect: true, required_status_checks: {contexts: [ghost]}}\n", name)
		}
	})
	w.config = "branch-protection:\n  orgs:\n    org:\n      repos:\n" + names.String()
}

// queue is a change that makes a context required, while many pull requests are open.
func (w *world) queue(many int) {
	w.config = strings.Replace(strings.Replace(today, "run_if_changed: ^docs/", "always_run: true", 1), "[cla]", "[]", 1)
	w.requires("unit")
	w.app(func(app *githubsim.Repository) {
		for number := 1; number <= many; number++ {
			app.Pull(number).Head = githubsim.SHA(fmt.Sprint("pull ", number))
		}
	})
}

// TestWhatAnInterruptKeepsFromViewIsTold, of each repository, branch and pull request.
func TestWhatAnInterruptKeepsFromViewIsTold(t *testing.T) {
	const many = 40
	for name, test := range map[string]struct {
		given func(w *world, many int)
		at    string
		told  func(seen *check.GitHub) int
		want  int
	}{
		"repositories": {(*world).crowd, "/repos/org/r1", func(seen *check.GitHub) int {
			repositories := maps.Clone(seen.Unread)
			for branch := range seen.Branches {
				repositories[branch.Repository()] = "read"
			}
			return len(repositories)
		}, many + 2}, // org/app and org/lib are those of the earlier configuration
		"heads": {(*world).crowd, "/commits?", func(seen *check.GitHub) int { return len(seen.Heads) }, many + 1},
		"pull requests": {(*world).queue, "/status", func(seen *check.GitHub) int {
			return len(seen.Pulls) + len(seen.PullsUnread)
		}, many},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := newWorld(t)
				test.given(w, many)
				ctx, cancel := context.WithCancel(t.Context())
				transport, stop := w.options.Transport, sync.OnceFunc(cancel)
				w.options.Transport = roundTripper(func(request *http.Request) (*http.Response, error) {
					if strings.Contains(request.URL.RequestURI(), test.at) {
						stop()
					}
					return transport.RoundTrip(request)
				})
				if seen := w.reads(ctx); test.told(seen) != test.want {
					t.Errorf("of %d; %d repositories unread, %d heads, %d pull requests unread", test.told(seen),
						len(seen.Unread), len(seen.Heads), len(seen.PullsUnread))
				}
			})
		})
	}
}
