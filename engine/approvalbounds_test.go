package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// TestNarrowedPlanIsNoOther: an approval that lowers limits has approved no step more, none that can't be taken back,
// and nothing on another target.
func TestNarrowedPlanIsNoOther(t *testing.T) {
	for name, row := range map[string]struct {
		change func(b *bench, book *runbook.Runbook)
		want   string
	}{
		"a step more": {func(b *bench, book *runbook.Runbook) {
			book.Steps = append([]runbook.Step{b.step("dust-off", func() bool { return false }, func() {})}, book.Steps...)
		}, "narrowed, the plan has a step more: dust-off"},
		"a step behind which there is no way back": {func(_ *bench, book *runbook.Runbook) {
			book.Steps[0].Irreversible, book.Steps[0].Rollback = true, nil
		}, "narrowed, step hang-sign is another"},
		"another target": {func(_ *bench, book *runbook.Runbook) { book.Target.ID = "lamp/2" },
			"the limits make it lamp-off (version 1) on lamp/2"},
		"another lock": {func(_ *bench, book *runbook.Runbook) { book.Locks = []string{"fuse/1"} },
			"the limits make it lamp-off (version 1) on lamp/1"},
		"another version": {func(_ *bench, book *runbook.Runbook) { book.Version = "2" },
			"the limits make it lamp-off (version 2) on lamp/1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, people, options := gated(t)
				people.answer = saying(func(s *engine.Said) { s.Limits = map[string]int{"watts": 10} })
				book := b.limited(60)
				lowered := book.Lowered
				book.Lowered = func(limits map[string]int) (runbook.Runbook, error) {
					made, err := lowered(limits)
					row.change(b, &made)
					return made, err
				}
				expect(t, b.runWith(book, options), runbook.Failed, row.want)
				b.expectNoChange(t)
			})
		})
	}
}

// TestApprovalThatExpiresWhileTheGuardsAreAskedIsNotUsed.
func TestApprovalThatExpiresWhileTheGuardsAreAskedIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = saying(func(s *engine.Said) {
			s.Expires = 60
			b.sees = func() runbook.Finding { time.Sleep(2 * time.Minute); return runbook.Yes("there it is") }
		})
		expect(t, b.runWith(b.book(), options), runbook.Failed, "approval expired: that of alice was good for 1m0s")
		b.expectNoChange(t)
		b.expectStory("opened", "evaluated start", "planned", "asked", "evaluated start", "planned", "closed failed")
	})
}

// TestReplanOfABoundRunIsNotAskedFor: a plan that is not the one the run is bound to is nobody's to approve.
func TestReplanOfABoundRunIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		b.seesAs("1", "7")
		plan := b.preview(b.book()).Plan
		options.Plan = &engine.ExpectedPlan{Digest: plan.Digest, Plan: plan}
		people.answer = saying(func(*engine.Said) { b.seesAs("2", "7") })
		expect(t, b.runWith(b.book(), options), runbook.Failed, "evidence lamp-in-sight eye.identity: was 1, now 2")
		b.expectNoChange(t)
		if len(people.asked) != 1 {
			t.Errorf("asked %+v", people.asked)
		}
	})
}

// TestRunThatLosesItsLeaseWaitsNoLonger: another runner is at work on the target, and nobody is to approve for this.
func TestRunThatLosesItsLeaseWaitsNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = func(string, journal.Question) []engine.Said {
			if err := b.usurp(context.Background(), b.book().Target.ID); err != nil {
				t.Error(err)
			}
			return nil
		}
		began := time.Now()
		expect(t, b.runWith(b.book(), options), runbook.NeedsAttention, "lease lost")
		b.expectNoChange(t)
		if waited := time.Since(began); waited > time.Minute {
			t.Errorf("it waited %s", waited)
		}
	})
}

// TestRefusedStatementsAreToldOfWithinBounds: anybody can write them, and the record is not theirs to fill.
func TestRefusedStatementsAreToldOfWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = func(run string, question journal.Question) (all []engine.Said) {
			for n := range 200 {
				said := engine.Said{Statement: yes(run, question), Refused: errors.New("signature invalid")}
				said.ID = strings.Repeat("x", n+1)
				all = append(all, said)
			}
			return all
		}
		if result := b.runWith(b.book(), options); len(result.Warnings) != 20 {
			t.Errorf("%d warnings", len(result.Warnings))
		}
	})
}

// TestStatementsThatWereNotReadAreTold, once: what decides may be among them.
func TestStatementsThatWereNotReadAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = func(string, journal.Question) []engine.Said { return []engine.Said{{Left: 12}} }
		result := b.runWith(b.book(), options)
		if len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "at least 12 more statements") {
			t.Errorf("warnings %q", result.Warnings)
		}
	})
}

// TestWhoAsksMayDeny: four eyes are for what is done, and not for leaving it.
func TestWhoAsksMayDeny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = saying(func(s *engine.Said) { s.By.User, s.Denied, s.Reason = "bob", true, "I was wrong" })
		expect(t, b.runWith(b.book(), options), runbook.Failed, "denied by bob from host laptop: I was wrong")
		if story := b.story(); !slices.Contains(story, "denied") {
			t.Errorf("the journal tells %q", story)
		}
	})
}
