package engine_test

import (
	"testing"
	"testing/synctest"

	"salve/internal/apierr"
	"salve/runbook"
)

func TestFailureIsTakenBack(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.sees = func() runbook.Finding {
		if asked++; asked <= 2 { // at the start and before the first step
			return runbook.Yes("there it is")
		}
		return runbook.No("the lamp went out by itself")
	}
	result := b.run(b.book())
	expect(t, result, runbook.NothingToDo, "went out by itself")
	if b.sign || result.Open {
		t.Errorf("sign out: %v, run open: %v", b.sign, result.Open)
	}
}

func TestUndoThatFailsParksAndIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.trouble["take-sign-in"] = []error{apierr.New(apierr.Terminal, "ladder gone")}
		asked := 0
		b.sees = func() runbook.Finding {
			if asked++; asked <= 2 {
				return runbook.Yes("there it is")
			}
			return runbook.No("not any more").WithOutcome(runbook.Failed)
		}
		result := b.run(b.book())
		expect(t, result, runbook.NeedsAttention, "ladder gone")
		if result.Question == "" || !result.Open {
			t.Errorf("parked without a question, or closed: %+v", result)
		}
		expect(t, b.run(b.book()), runbook.Failed, "not any more")
		if b.sign {
			t.Error("the sign is still out")
		}
	})
}
