package repairprotection_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
	"salve/runbook"
)

// TestProwsOwnProtectorFindsNothingToChange: it runs with the same configuration after the repair.
func TestProwsOwnProtectorFindsNothingToChange(t *testing.T) {
	prowtest.Need(t, prowtest.BranchProtector)
	w := newWorld(t)
	w.protection("kube/gadgets", func(branch *githubsim.Branch) { branch.Protection = nil })
	w.ends(w.run(), runbook.Remediated)
	w.sim.ForgetCalls()
	address, stop, err := w.sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	w.write("token", token)
	if log := w.protect(address); len(w.changed()) > 0 {
		t.Errorf("branchprotector changed %v:\n%s", w.changed(), log)
	}
	// It would have found something: without the repair it writes.
	w.protection("kube/widgets", func(branch *githubsim.Branch) { branch.Protection = githubsim.Require("docs") })
	if log := w.protect(address); len(w.changed()) != 1 {
		t.Errorf("branchprotector changed %v:\n%s", w.changed(), log)
	}
}

// protect runs Prow's branchprotector with the world's configuration.
func (w *world) protect(address string) string {
	w.Helper()
	path, err := prowtest.Program(prowtest.BranchProtector)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, path, "--config-path="+w.in.Config, "--github-token-path="+w.path("token"),
		"--github-endpoint="+address, "--github-graphql-endpoint="+address+"/graphql", "--github-hourly-tokens=0",
		"--github-client.initial-delay=10ms", "--confirm").CombinedOutput()
	if err != nil {
		w.Fatalf("branchprotector: %v\n%s", err, said)
	}
	return string(said)
}
