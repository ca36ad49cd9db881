package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// wider is a plan that changes another resource group as well.
func wider(plan *rollout.Plan) *rollout.Plan {
	more := *plan
	more.Inputs.Targets = append([]string{groupB}, plan.Inputs.Targets...)
	return &more
}

// TestRolloutHoldsEveryResourceGroup that it changes, and not only all of them together.
func TestRolloutHoldsEveryResourceGroup(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		one := b.plan("", "a")
		began := make(chan struct{})
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			close(began)
			time.Sleep(time.Hour)
			return done()
		}
		var first runbook.Outcome
		over := make(chan struct{})
		go func() {
			defer close(over)
			first = b.run(t.Context(), wider(one), rollout.Options{}).Outcome
		}()
		<-began
		var held *journal.HeldError
		if _, err := b.runner().Run(t.Context(), one, rollout.Options{}); !errors.As(err, &held) || held.Target != groupA {
			t.Errorf("got %v", err)
		}
		if <-over; first != runbook.RolledOut || !slices.Equal(b.calls, []string{"a"}) {
			t.Errorf("the first ended %s, and ran %v", first, b.calls)
		}
	})
}

// TestOpenRunBesideIsNotOverridden: --allow-older is about the revision alone.
func TestOpenRunBesideIsNotOverridden(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = fails("no")
		one := b.plan("revision: '7'\n", "a")
		first := b.run(t.Context(), wider(one), rollout.Options{})
		delete(b.does, "a")
		b.calls = nil
		b.expect(b.run(t.Context(), one, rollout.Options{AllowOlder: "by hand"}), runbook.Failed,
			"run "+first.Run+" is open on a resource group")
		if len(b.calls) > 0 {
			t.Errorf("ran %v", b.calls)
		}
	})
}

// TestRunThatWasMigratedIsOpenElsewhere: what it left half done on a shared resource group
// isn't over, although it is closed here.
func TestRunThatWasMigratedIsOpenElsewhere(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		inputs, err := json.Marshal(rollout.Inputs{ //nolint:gosec // Pass names variables: no value is in it
			ServiceGroup: "Example.Service", Targets: []string{groupA, groupB}})
		if err != nil {
			t.Fatal(err)
		}
		record, err := journal.Create(t.Context(), b.journal, journal.NoLease(1), time.Now, journal.Header{Schema: 1,
			Run: "moved", Runbook: rollout.Name, Version: "1", Inputs: inputs, Target: runbook.Target{ID: "pipeline/both"}})
		if err != nil {
			t.Fatal(err)
		}
		err = record.AppendAll(t.Context(),
			journal.Pending{Kind: journal.Intended, Step: "g/a", Data: journal.Intent{Attempt: 1}},
			journal.Pending{Kind: journal.Migrated, Data: journal.Destination{Where: "cluster aks-1", ID: "1"}})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(b.run(t.Context(), b.plan("", "a"), rollout.Options{}), runbook.Undecided, "cluster aks-1")
		if len(b.calls) > 0 {
			t.Errorf("ran %v", b.calls)
		}
	})
}
