package drift_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"salve/internal/clock"
	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/drift"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/manifest"
)

const (
	token = "ghp_forthetestsalone"
	// today is the configuration of all tests; before it, org/app had a job more.
	today = `
pod_namespace: test-pods
branch-protection:
  orgs:
    org:
      repos:
        app:
          protect: true
          required_status_checks: {contexts: [cla]}
          branches: {wild: {unmanaged: true}}
        lib: {protect: true}
presubmits:
  org/app:
  - {name: unit, always_run: true, spec: {containers: [{image: golang, command: [make]}]}}
  - {name: docs, run_if_changed: ^docs/, spec: {containers: [{image: golang, command: [make]}]}}
  org/lib:
  - {name: build, always_run: true, spec: {containers: [{image: golang, command: [make]}]}}
`
	gone = "  - {name: gone, always_run: true, spec: {containers: [{image: golang, command: [make]}]}}\n"
)

// before is the configuration with the job more.
func before() string { return strings.Replace(today, "  org/app:\n", "  org/app:\n"+gone, 1) }

// world is a GitHub that is as the configuration says, and a poller of it.
type world struct {
	*testing.T
	sim     *githubsim.Server
	config  string
	options github.Options
	poller  *drift.Poller
	// base changes the facts, if it is set.
	base func(*check.Facts)
}

// newWorld has org/app with main and wild, and org/lib, whose commits have been reported on. Its poller is made at the
// first poll.
func newWorld(t *testing.T) *world {
	w := &world{T: t, sim: githubsim.New(githubsim.Options{}), config: today}
	w.options = github.Options{BaseURL: "https://github.example/api/v3/", Transport: w.sim.Transport(),
		Token: github.TokenFunc(func(context.Context) (string, error) { return token, nil })}
	w.sim.Update(func(world *githubsim.World) {
		world.Token(token, "root")
		app, lib := world.Repo("org/app"), world.Repo("org/lib")
		for _, repo := range []*githubsim.Repository{app, lib} {
			repo.Collaborators = map[string]string{"root": "admin"}
		}
		app.Branch("main").Protection = githubsim.Require("cla", "unit")
		app.Branch("wild").Protection = githubsim.Require("unit")
		lib.Branch("main").Protection = githubsim.Require("build")
		commits(app, "main", 30, "unit", "cla")
		commits(lib, "main", 30, "build")
	})
	return w
}

// commits gives a branch a history on which contexts were reported.
func commits(repo *githubsim.Repository, branch string, n int, contexts ...string) {
	parent := ""
	for i := range n {
		sha := githubsim.SHA(fmt.Sprintf("%s %d", branch, i))
		commit := repo.Commit(sha)
		commit.Parent, commit.Statuses = parent, nil
		for _, context := range contexts {
			commit.Statuses = append(commit.Statuses, githubsim.Status{Context: context, State: "success"})
		}
		parent = sha
	}
	repo.Branch(branch).Head = parent
}

// app changes org/app.
func (w *world) app(change func(app *githubsim.Repository)) {
	w.sim.Update(func(world *githubsim.World) { change(world.Repo("org/app")) })
}

// requires changes what branch main of org/app requires.
func (w *world) requires(contexts ...string) {
	w.app(func(app *githubsim.Repository) { app.Branch("main").Protection = githubsim.Require(contexts...) })
}

// facts are those of the configuration, with the earlier one and an empty folder of manifests.
func (w *world) facts(context.Context) (check.Facts, error) {
	facts := check.Facts{Now: load(w.config), Base: &check.Base{Name: "before", Config: load(before())},
		Manifests: manifest.Read(fstest.MapFS{"m/n.yaml": {Data: []byte("kind: Namespace\n")}}, "m", "")}
	if w.base != nil {
		w.base(&facts)
	}
	return facts, nil
}

func load(text string) config.Loaded {
	return config.Load(fstest.MapFS{"config.yaml": {Data: []byte(text)}}, config.Files{Config: "config.yaml"})
}

func (w *world) client() *github.Client {
	w.Helper()
	client, err := github.New(w.options)
	if err != nil {
		w.Fatal(err)
	}
	return client
}

func (w *world) poll() (finding.List, map[string]finding.Verdict) {
	w.Helper()
	if w.poller == nil {
		poller, err := drift.NewPoller(drift.Options{GitHub: w.client(), Facts: w.facts, Clock: clock.Real{}})
		if err != nil {
			w.Fatal(err)
		}
		w.poller = poller
	}
	found, verdicts := w.poller.Poll(w.Context())
	by := map[string]finding.Verdict{}
	for _, verdict := range verdicts {
		by[verdict.Rule] = verdict
	}
	if len(by) != 7 {
		w.Fatalf("verdicts %+v", verdicts)
	}
	return found, by
}

// expects polls, and compares what was found: severity, rule and subject of each.
func (w *world) expects(want ...string) map[string]finding.Verdict {
	w.Helper()
	found, verdicts := w.poll()
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.Rule, f.Subject))
	}
	if !slices.Equal(got, want) {
		w.Errorf("found %q, want %q", got, want)
		for _, f := range found {
			w.Logf("%s\n  %s", f.Message, strings.Join(f.Evidence, "\n  "))
		}
	}
	return verdicts
}

func (w *world) verdict(got finding.Verdict, severity finding.Severity, reason string) {
	w.Helper()
	if got.Severity != severity || !strings.Contains(got.Reason, reason) || reason == "" && got.Reason != "" {
		w.Errorf("rule %s: %s because of %q, want %s because of %q", got.Rule, got.Severity, got.Reason, severity, reason)
	}
}

// counted are the requests that were taken off the rate limit.
func (w *world) counted() int {
	n := 0
	for _, call := range w.sim.Calls() {
		if call.Counted {
			n++
		}
	}
	return n
}

// virtual runs a test on a clock that jumps.
func virtual(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}
