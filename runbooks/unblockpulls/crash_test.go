package unblockpulls_test

import (
	"net/http"
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

// TestCrashAnywhere kills the run at every write of its journal and every call to GitHub. The next one goes on, and
// there is one comment for each head and context, ever.
func TestCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, crashing(7), runbooktest.VirtualTime())
}

// TestCrashAnywhereAmongSeveral is the same with a pace to keep in between.
func TestCrashAnywhereAmongSeveral(t *testing.T) {
	runbooktest.CrashAnywhere(t, crashing(7, 8), runbooktest.VirtualTime(), runbooktest.EveryNth(7))
}

func crashing(numbers ...int) func(t *testing.T) runbooktest.World {
	return func(t *testing.T) runbooktest.World {
		w := newWorld(t)
		for _, number := range numbers {
			w.pull(number, nil)
		}
		found := w.discovered()
		w.sim.ForgetCalls()
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				wrap := func(next http.RoundTripper) http.RoundTripper { return process.Transport(next) }
				return w.made(w.of(wrap), found)
			},
			Verify: func() {
				w.commented(len(numbers))
				for _, number := range numbers {
					if bodies := w.comments(number); len(bodies) != 1 {
						t.Errorf("the comments on %d are %q", number, bodies)
					}
				}
			},
		}
	}
}
