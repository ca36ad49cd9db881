package drift_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"salve/internal/prow/finding"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
)

// rich is a configuration with a bit of all that branchprotector writes.
const rich = `
pod_namespace: test-pods
branch-protection:
  protect: true
  enforce_admins: true
  required_status_checks: {strict: true, contexts: [cla]}
  exclude: [^dependabot/]
  orgs:
    org:
      required_linear_history: true
      restrictions: {users: [robot], teams: [owners]}
      repos:
        app:
          required_pull_request_reviews:
            required_approving_review_count: 2
            dismiss_stale_reviews: true
            dismissal_restrictions: {users: [Root]}
          branches:
            wild: {unmanaged: true}
            open: {protect: false}
            release/1.0: {protect: true, allow_force_pushes: true, allow_deletions: true}
        lib: {enforce_admins: false, required_status_checks: {contexts: [dco]}}
  allow_disabled_policies: true
  allow_disabled_job_policies: true
presubmits:
  org/app:
  - {name: unit, always_run: true, spec: {containers: [{image: golang, command: [make]}]}}
  - {name: docs, run_if_changed: ^docs/, spec: {containers: [{image: golang, command: [make]}]}}
  - {name: lint, always_run: true, skip_branches: [wild], spec: {containers: [{image: golang, command: [make]}]}}
`

// TestWhatProwsOwnProtectorWritesIsQuiet: what it has written by a configuration is no drift from that configuration.
func TestWhatProwsOwnProtectorWritesIsQuiet(t *testing.T) {
	prowtest.Need(t, prowtest.BranchProtector)
	w := newWorld(t)
	w.config = rich
	w.sim.Update(func(world *githubsim.World) {
		world.Owners["org"].Teams = []string{"owners"}
		app, lib := world.Repo("org/app"), world.Repo("org/lib")
		for _, repo := range []*githubsim.Repository{app, lib} {
			repo.Collaborators["robot"] = "write"
			repo.Branch("main").Protection = nil
		}
		app.Branch("wild").Protection, app.Branch("open").Protection = nil, githubsim.Require("unit")
		app.Branch("release/1.0")
		app.Branch("dependabot/x")
		for _, name := range []string{"main", "wild", "open", "release/1.0", "dependabot/x"} {
			commits(app, name, 20, "cla")
		}
		commits(lib, "main", 20, "cla", "dco")
	})
	w.expects("WARN B3 org/app=main", "WARN B3 org/app=release/1.0", "WARN B3 org/lib=main")
	if log := w.protect(); len(w.sim.Changes()) != 3 {
		t.Fatalf("it wrote %+v\n%s", w.sim.Changes(), log)
	}
	verdicts := w.expects()
	for _, rule := range []string{"B2", "B3", "B4"} {
		w.verdict(verdicts[rule], finding.OK, "")
	}
}

// protect runs Prow's branchprotector with the world's configuration.
func (w *world) protect() string {
	w.Helper()
	address, stop, err := w.sim.Listen(w.Context(), "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	defer stop()
	folder := w.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			w.Fatal(err)
		}
		return path
	}
	path, err := prowtest.Program(prowtest.BranchProtector)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, path, "--config-path="+file("config.yaml", w.config),
		"--github-token-path="+file("token", token), "--github-endpoint="+address,
		"--github-graphql-endpoint="+address+"/graphql", "--github-hourly-tokens=0",
		"--github-client.initial-delay=10ms", "--confirm").CombinedOutput()
	if err != nil {
		w.Fatalf("branchprotector: %v\n%s", err, said)
	}
	return string(said)
}
