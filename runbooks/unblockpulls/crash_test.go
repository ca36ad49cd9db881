package unblockpulls_test

import (
	"net/http"
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

// TestCrashAnywhere kills the run at every write of its journal and every call to GitHub. The next one goes on, and there
// is one comment for each head and context, ever.
func TestCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		w := newWorld(t)
		w.pull(8, nil)
		w.in.Pace = 60
		found := w.discovered()
		w.sim.ForgetCalls()
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				wrap := func(next http.RoundTripper) http.RoundTripper { return process.Transport(next) }
				return w.made(w.of(wrap), found)
			},
			Verify: func() {
				w.commented(2)
				for _, number := range []int{7, 8} {
					if bodies := w.comments(number); len(bodies) != 1 {
						t.Errorf("the comments on %d are %q", number, bodies)
					}
				}
			},
		}
	}, runbooktest.VirtualTime())
}
