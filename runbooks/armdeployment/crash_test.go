package armdeployment_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/resourcegroup"
)

var errKilled = errors.New("killed")

// mortal is a process that dies at the nth of the things that it does outside of
// itself, calls of ARM and writes to the journal: before it, or after it and before
// the answer. The dead do nothing.
type mortal struct {
	journal.Store
	at    int // from 1; 0 for never
	after bool
	deeds int
	kill  context.CancelCauseFunc
}

func (m *mortal) deed() (before, after bool) {
	m.deeds++
	died := m.at > 0 && m.deeds >= m.at
	if died {
		m.kill(errKilled)
	}
	return died && !(m.after && m.deeds == m.at), died
}

func (m *mortal) Append(ctx context.Context, run string, seq int, line []byte) error {
	before, after := m.deed()
	switch {
	case before:
		return errKilled
	case after:
		return errors.Join(errKilled, m.Store.Append(ctx, run, seq, line))
	}
	return m.Store.Append(ctx, run, seq, line)
}

func (m *mortal) reach(azuresim.Call) azuresim.Verdict {
	switch before, after := m.deed(); {
	case before:
		return azuresim.DropBefore
	case after:
		return azuresim.DropAfter
	}
	return azuresim.Proceed
}

// TestCrashAnywhere: a process that dies at any point is followed by another one,
// and there is one deployment, which succeeded.
func TestCrashAnywhere(t *testing.T) {
	for _, group := range []string{"fleet", "new"} {
		deeds := dies(t, group, &mortal{})
		if deeds < 15 {
			t.Fatalf("a run does %d things", deeds)
		}
		for at := 1; at <= deeds; at++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("group %s, %d of %d, after it %t", group, at, deeds, after), func(t *testing.T) {
					dies(t, group, &mortal{at: at, after: after})
				})
			}
		}
	}
}

// dies tells the story, and gives how many things the first process did.
func dies(t *testing.T, group string, m *mortal) (deeds int) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.in.ResourceGroup, s.order.Group = group, resourcegroup.Wanted{Name: group, Location: "northeurope"}
		memory := journal.NewMemory()
		ctx, kill := context.WithCancelCause(t.Context())
		defer kill(nil)
		m.Store, m.kill, s.journal = memory, kill, m
		s.world.Intercept(m.reach)
		result, err := s.run(ctx)
		deeds = m.deeds
		if m.at == 0 && (err != nil || result.Outcome != runbook.Remediated) {
			t.Fatalf("ended %s: %s, %v", result.Outcome, result.Reason, err)
		}
		s.world.Intercept(nil)
		s.journal = memory
		memory.Expire(s.target()) // as the lease of the dead does
		if m.at > 0 && !s.closed() {
			s.ends(runbook.Remediated, "")
		}
		if there := s.there(); there.State != "Succeeded" || s.puts() != 1 {
			t.Errorf("the deployment is %s, after %d of them", there.State, s.puts())
		}
		if made := s.groupsMade(); group == "new" && made != 1 || group != "new" && made != 0 {
			t.Errorf("resource groups were written %d times", made)
		}
	})
	return deeds
}
