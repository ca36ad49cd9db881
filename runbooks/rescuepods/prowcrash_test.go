package rescuepods_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"salve/engine"
	"salve/internal/prow/prowtest"
	"salve/journal"
	"salve/runbook"
)

// TestCrashOfAProwRun: a run that dies after any of its writes is gone on with by another process, under all of Prow's
// guards, and the same comes of it: also of what crier held.
func TestCrashOfAProwRun(t *testing.T) {
	t.Parallel()
	writes := 0
	t.Run("never", func(t *testing.T) {
		m := &mortal{Store: journal.NewMemory()}
		prowCrash(t, m)
		writes = m.writes
	})
	if writes < 15 {
		t.Fatalf("a run makes %d writes", writes)
	}
	t.Run("at", func(t *testing.T) {
		for at := 1; at <= writes; at++ {
			t.Run(fmt.Sprintf("write %d of %d", at, writes), func(t *testing.T) {
				t.Parallel()
				prowCrash(t, &mortal{Store: journal.NewMemory(), at: at, after: true})
			})
		}
	})
}

func prowCrash(t *testing.T, m *mortal) {
	t.Helper()
	s := newProwStage(t)
	s.strays("a", "b")
	held := prowtest.APresubmit("held")
	held.State = prowtest.Success
	s.prowJob(held)
	s.plankPod(s.astray, "held")
	s.patch(s.astray, s.id("held"), heldByCrier)
	t.Cleanup(func() { s.unhold(s.id("held")) })
	s.stored("held")
	s.fixed(proven...)
	home := s.uids(s.home)

	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	m.kill, s.journal = kill, m
	result, err := s.engine().Run(ctx, s.book(), engine.Options{})
	if died := errors.Is(err, errKilled) || result.Unrecorded; died != (m.at > 0) {
		t.Fatalf("the first process ended with %v, %s: %s", err, result.Outcome, result.Reason)
	}
	m.Store.(*journal.Memory).Expire(s.book().Target.ID) // as the lease of the dead does
	s.journal = m.Store
	if m.at > 0 {
		result = s.run()
	}
	if result.Outcome != runbook.Remediated && result.Outcome != runbook.NothingToDo {
		t.Errorf("ended %s: %s\n%s", result.Outcome, result.Reason, s.transcript())
	}
	s.remain(s.astray)
	for name, uid := range home {
		if s.uids(s.home)[name] != uid {
			t.Errorf("pod %s was touched where it belongs", name)
		}
	}
}
