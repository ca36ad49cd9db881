package rollout_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

func TestSoakCountsFromTheFirstSuccessOfTheRevision(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		const soak = `soak; action: Soak | since: {resourceGroup: g, step: a} | duration: 4h`
		steps := []string{"a", soak, "b < soak", "c"}
		plan := b.plan("revision: '7'\n", steps...)
		ctx, interrupt := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { interrupt(engine.ErrInterrupted) })
		began := time.Now()
		first := b.run(ctx, plan, rollout.Options{})
		b.expect(first, runbook.NeedsAttention, "not done: g/soak; not begun: g/b")
		if first.Question != "" {
			t.Errorf("a wait is asked about: %s", first.Question)
		}
		time.Sleep(2 * time.Hour)
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.RolledOut, "")
		if took := time.Since(began); took != 4*time.Hour+2*time.Minute {
			t.Errorf("took %s", took)
		}
		// The same revision once more: it has been out for long enough.
		b.changed = func(inputs *rollout.Inputs) { inputs.Digest = "other" }
		began = time.Now()
		b.run(t.Context(), b.plan("revision: '7'\n", steps...), rollout.Options{})
		if took := time.Since(began); took != 2*time.Minute {
			t.Errorf("the same revision took %s", took)
		}
		// A newer one has not.
		b.changed = func(inputs *rollout.Inputs) { inputs.Digest = "newer" }
		began = time.Now()
		b.run(t.Context(), b.plan("revision: '8'\n", steps...), rollout.Options{})
		if took := time.Since(began); took != 4*time.Hour+2*time.Minute {
			t.Errorf("a newer revision took %s", took)
		}
	})
}

// TestSoakCountsFromNoFailure: what failed was not out yet.
func TestSoakCountsFromNoFailure(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = fails("no")
		plan := b.plan("revision: '7'\n", "a", `soak; action: Soak | since: {resourceGroup: g, step: a} | duration: 4h`)
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.Failed, "no")
		time.Sleep(3 * time.Hour)
		delete(b.does, "a")
		began := time.Now()
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.RolledOut, "")
		if took := time.Since(began); took != 4*time.Hour+time.Minute {
			t.Errorf("it soaked for %s, counted from a failure", took)
		}
	})
}

func TestOlderRevisionsAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		before, now string
		allow       string
		ends        runbook.Outcome
		reason      string
	}{
		"older": {"8", "7", "", runbook.Failed,
			"revision-order does not hold: revision 7 is older than 8, which run run-1 rolled out here"},
		"older, allowed":  {"8", "7", "8 is broken", runbook.RolledOut, ""},
		"the same":        {"8", "8", "", runbook.RolledOut, ""},
		"newer":           {"8", "9", "", runbook.RolledOut, ""},
		"of another kind": {"8", "2026-03-01T12:00:00Z", "", runbook.Undecided, "revision-order is unknown"},
		"none after one": {"8", "", "", runbook.Undecided,
			"the pipeline has no revision, and run run-1 rolled out revision 8 here"},
		"one after none":    {"", "8", "", runbook.RolledOut, ""},
		"neither":           {"", "", "", runbook.RolledOut, ""},
		"none, but allowed": {"8", "", "by hand", runbook.RolledOut, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				plan := func(revision, step string) *rollout.Plan {
					if revision == "" {
						return b.plan("", step)
					}
					return b.plan("revision: '"+revision+"'\n", step)
				}
				b.run(t.Context(), plan(test.before, "a"), rollout.Options{})
				b.calls = nil
				result := b.run(t.Context(), plan(test.now, "another"), rollout.Options{AllowOlder: test.allow})
				b.expect(result, test.ends, test.reason)
				if (test.ends == runbook.RolledOut) != (len(b.calls) > 0) {
					t.Errorf("ran %v", b.calls)
				}
				if test.allow != "" && b.record(result.Run).Header.Overrides["revision-order"] != test.allow {
					t.Errorf("the reason is not in the record: %v", b.record(result.Run).Header.Overrides)
				}
			})
		})
	}
}

func TestUnknownActionsAreRefusedBeforeAnythingBegins(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		const registration = `r < a; action: Ev2Registration | identityFrom: {resourceGroup: g, step: a, name: id}`
		_, err := b.runner().Run(t.Context(), b.plan("", "a", registration, "b < r"), rollout.Options{})
		var wrong *engine.InvalidError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(),
			"no program runs the action of these steps: Ev2Registration: g/r (pipeline.yaml:16:13). hint: a program "+
				"salve-action-Ev2Registration in the pipeline's folder or on PATH, or --action Ev2Registration=PROGRAM, runs "+
				"them; --skip-actions Ev2Registration skips them") {
			t.Errorf("got %v", err)
		}
		if len(b.calls) > 0 {
			t.Errorf("ran %v", b.calls)
		}
		b.changed = func(inputs *rollout.Inputs) { inputs.Skip = []string{"Ev2Registration"} }
		b.expect(b.run(t.Context(), b.plan("", "a", registration, "b < r"), rollout.Options{}), runbook.RolledOut,
			"2 of 3 steps are done, g/r was skipped")
		if !slices.Equal(b.calls, []string{"a", "b"}) {
			t.Errorf("ran %v", b.calls)
		}
	})
}

func TestOneRunnerForATarget(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a")
		lease, err := b.journal.Lock(t.Context(),
			journal.Claim{Target: plan.Target().ID, Holder: journal.Holder{Run: "run-0", User: "bo"}})
		if err != nil {
			t.Fatal(err)
		}
		var held *journal.HeldError
		if _, err := b.runner().Run(t.Context(), plan, rollout.Options{}); !errors.As(err, &held) ||
			held.Holder.User != "bo" {
			t.Errorf("got %v", err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.RolledOut, "")
	})
}

// TestRolloutThatSharesAResourceGroupWithAnOpenOneIsRefused: what the open one left
// half done there is its own to finish.
func TestRolloutThatSharesAResourceGroupWithAnOpenOneIsRefused(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = fails("no")
		one := b.plan("", "a")
		wider := *one
		wider.Inputs.Targets = append([]string{"pipeline/example.service/sub/another"}, one.Inputs.Targets...)
		first := b.run(t.Context(), &wider, rollout.Options{})
		b.expect(first, runbook.Failed, "no")
		b.calls = nil
		b.expect(b.run(t.Context(), one, rollout.Options{}), runbook.Failed, "run "+first.Run+" is open on a resource group")
		if len(b.calls) > 0 {
			t.Errorf("ran %v", b.calls)
		}
	})
}
