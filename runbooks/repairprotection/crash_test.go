package repairprotection_test

import (
	"net/http"
	"strings"
	"testing"

	"salve/internal/prow/githubsim"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// TestCrashAnywhere kills the run at every write of its journal and every call to GitHub. The next one goes on, no
// branch is written twice, and all are right.
func TestCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		w := newWorld(t)
		w.write("config.yaml", strings.ReplaceAll(today, "enforce_admins: true", "require_signed_commits: true"))
		w.protection("kube/gadgets", func(branch *githubsim.Branch) { branch.Protection = githubsim.Require("old") })
		found := w.discovered()
		w.sim.ForgetCalls()
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				wrap := func(next http.RoundTripper) http.RoundTripper { return process.Transport(next) }
				return w.made(w.of(wrap), found)
			},
			Verify: func() {
				w.requires("kube/widgets", "cla", "unit")
				w.requires("kube/gadgets", "build")
				w.protection("kube/gadgets", func(branch *githubsim.Branch) {
					if !branch.Protection.RequiredSignatures {
						t.Error("signatures are not required")
					}
				})
				if changed := w.changed(); len(changed) != 3 {
					t.Errorf("GitHub was asked for %v", changed)
				}
			},
		}
	}, runbooktest.VirtualTime())
}
