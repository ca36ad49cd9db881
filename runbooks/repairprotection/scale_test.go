package repairprotection_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/prow/githubsim"
	"salve/runbook"
	"salve/runbooks/repairprotection"
)

// many is a world with so many branches in repositories of a hundred, all written by an old branchprotector.
func many(t testing.TB, branches int) *world {
	w := newWorld(t)
	config := &strings.Builder{}
	fmt.Fprintf(config,
		"prowjob_namespace: prow\npod_namespace: test-pods\nbranch-protection:\n  orgs:\n    many: {protect: true}\n")
	fmt.Fprintf(config, "presubmits:\n")
	for i := range (branches + 99) / 100 {
		fmt.Fprintf(config,
			"  many/repo-%02d:\n  - {name: unit, always_run: true, spec: {containers: [{image: golang}]}}\n", i)
		fmt.Fprintf(config, "  - {name: docs, run_if_changed: ^docs/, spec: {containers: [{image: golang}]}}\n")
	}
	w.write("config.yaml", config.String())
	w.sim.Update(func(github *githubsim.World) {
		for i := range branches {
			repo := github.Repo(fmt.Sprintf("many/repo-%02d", i/100))
			repo.Collaborators = map[string]string{"root": "admin"}
			delete(repo.Branches, "main")
			repo.Branch(fmt.Sprintf("release-%03d", i%100)).Protection = githubsim.Require("docs", "unit")
		}
	})
	return w
}

// counted are the requests that GitHub took off the rate limit.
func (w *world) counted() (n int) {
	for _, call := range w.sim.Calls() {
		if call.Counted {
			n++
		}
	}
	return n
}

// TestThousandBranchesWithinAnHourOfGitHub: at most four calls a branch, the discovery included.
func TestThousandBranchesWithinAnHourOfGitHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := many(t, 1000)
		began := time.Now()
		world := w.of(nil)
		found, finding := repairprotection.Discover(t.Context(), world, w.in)
		if len(found.Branches) != 1000 {
			t.Fatalf("found %d: %s", len(found.Branches), finding.Reason)
		}
		w.ends(w.runBook(w.made(world, found)), runbook.Remediated)
		calls := w.counted()
		t.Logf("calls: %d; %s", calls, time.Since(began).Round(time.Second))
		if calls > 4000 || len(w.changed()) != 1000 {
			t.Errorf("calls: %d, changes: %d", calls, len(w.changed()))
		}
		for i := range 1000 {
			if got := w.required(fmt.Sprintf("many/repo-%02d", i/100), fmt.Sprintf("release-%03d", i%100)); len(got) != 1 {
				t.Fatalf("branch %d requires %v", i, got)
			}
		}
	})
}

// TestManyBranchesAreResumedInTheMiddle: the process is gone after half of the writes, and another goes on.
func TestManyBranchesAreResumedInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := many(t, 200)
		found := w.discovered()
		ctx, stop := context.WithCancelCause(t.Context())
		puts := 0
		dying := w.of(func(next http.RoundTripper) http.RoundTripper {
			return trip(func(request *http.Request) (*http.Response, error) {
				if request.Method == http.MethodPut {
					if puts++; puts > 100 {
						stop(engine.ErrInterrupted)
						return nil, errors.New("the process is gone")
					}
				}
				return next.RoundTrip(request)
			})
		})
		if result, err := w.engine().Run(ctx, w.made(dying, found), engine.Options{}); err != nil || !result.Open {
			t.Fatalf("%+v (%v)", result, err)
		}
		if n := len(w.changed()); n != 100 {
			t.Fatalf("branches that were changed: %d", n)
		}
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Remediated)
		if n := len(w.changed()); n != 200 {
			t.Errorf("changes: %d", n)
		}
	})
}

// TestGitHubCutToSixtyCalls: the limit shrinks to sixty an hour. What doesn't fit is not begun; and where an operator
// says so, the run waits for each hour, and comes to its end.
func TestGitHubCutToSixtyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := many(t, 60)
		w.sim = resized(w, 60)
		if _, finding := repairprotection.Discover(t.Context(), w.of(nil), w.in); finding.Outcome != runbook.Deferred {
			t.Errorf("the discovery ends %s: %s", finding.Outcome, finding.Reason)
		}
		unhurried := w.of(nil)
		found, finding := w.in, runbook.Finding{}
		for range 4 { // what was read is asked for again by its ETag, for nothing
			if err := clock.Sleep(t.Context(), clock.Real{}, time.Hour); err != nil {
				t.Fatal(err)
			}
			if found, finding = repairprotection.Discover(t.Context(), unhurried, w.in); finding.Answer == runbook.AnswerHolds {
				break
			}
		}
		if len(found.Branches) != 60 {
			t.Fatalf("found %d: %s", len(found.Branches), finding.Reason)
		}
		w.ends(w.runBook(w.made(unhurried, found)), runbook.NeedsAttention, "budget-suffices", "--override")
		w.unchanged()
		began := time.Now()
		result := w.runBook(w.made(unhurried, found), override("budget-suffices"))
		w.ends(result, runbook.Remediated)
		if n := len(w.changed()); n != 60 {
			t.Errorf("changes: %d", n)
		}
		t.Logf("60 branches in %s", time.Since(began).Round(time.Minute))
	})
}

// resized is a GitHub with the same world and another limit.
func resized(w *world, limit int) *githubsim.Server {
	var same *githubsim.World
	w.sim.Update(func(github *githubsim.World) { same = github })
	return githubsim.New(githubsim.Options{World: same, Limit: limit})
}

// TestTheLimitIsWaitedForInTheMiddle: others use the token up while the run is at work.
func TestTheLimitIsWaitedForInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := many(t, 20)
		found := w.discovered()
		began := time.Now()
		result := w.runBook(w.made(w.of(w.atWrite("release-007", func() { w.sim.Limit("root", 2) })), found))
		w.ends(result, runbook.Remediated)
		if took := time.Since(began); took < 50*time.Minute {
			t.Errorf("it took %s: the limit was not waited for", took)
		}
	})
}
