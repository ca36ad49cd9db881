package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

func TestIntentIsDurableBeforeTheChange(t *testing.T) {
	b := newBench(t)
	book := b.book()
	apply := book.Steps[1].Apply
	book.Steps[1].Apply = func(ctx context.Context, run runbook.Run) error {
		step := b.record("run-1").Step("switch-off")
		if !step.Open || step.Permit != runbook.PermitFrom(ctx).ID() || !step.Crossed() {
			t.Errorf("at the moment of the change the journal holds %+v", step)
		}
		return apply(ctx, run)
	}
	b.run(book)
}

func TestAWriteThatFailsStopsTheRunBeforeTheChange(t *testing.T) {
	for write := 1; write <= 12; write++ {
		b := newBench(t)
		full := &fullDisk{Store: b.Journal, left: write}
		b.Engine.Journal = full
		result, err := b.Run(context.Background(), b.book(), engine.Options{})
		if full.left > 0 {
			break // the run needs fewer writes
		}
		if len(b.calls) == 0 && err == nil && !result.Unrecorded {
			t.Fatalf("write %d failed and the run ended %s", write, result.Outcome)
		}
		if len(b.calls) > 0 && (err != nil || !result.Unrecorded || result.Outcome != runbook.NeedsAttention) {
			t.Fatalf("write %d failed after a change, and the run ended %+v, %v", write, result, err)
		}
		if err != nil && !errors.Is(err, errFull) {
			t.Fatalf("write %d failed and the run ended with %v", write, err)
		}
		b.Engine.Journal = full.Store
		runs, _ := b.Journal.Runs(context.Background())
		// A run that began is named, for it is open; write 1 is its header.
		if open := (*engine.UnrecordedError)(nil); errors.As(err, &open) != (err != nil && write > 1) ||
			open != nil && open.Run != runs[0] || err != nil && result.Run != "" {
			t.Errorf("write %d failed: %v names the wrong one of %q, beside %+v", write, err, runs, result)
		}
		intents := 0
		for _, run := range runs {
			for _, entry := range b.record(run).Entries {
				if entry.Kind == journal.Intended {
					intents++
				}
			}
		}
		if len(b.calls) > intents {
			t.Errorf("write %d failed: %d changes, %d intents", write, len(b.calls), intents)
		}
	}
}

var errFull = errors.New("no space left on device")

type fullDisk struct {
	journal.Store
	left int
}

func (f *fullDisk) Append(ctx context.Context, run string, seq int, line []byte) error {
	if f.left--; f.left <= 0 {
		return errFull
	}
	return f.Store.Append(ctx, run, seq, line)
}

func TestLeaseLostMeansNoMoreChanges(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Steps[0].Await = func(ctx context.Context, _ runbook.Run) error {
		return b.usurp(ctx, book.Target.ID)
	}
	result := b.run(book)
	expect(t, result, runbook.NeedsAttention, "lease lost")
	if result.Unrecorded || !result.Open {
		t.Errorf("ended %+v", result)
	}
	if want := []string{"hang-sign"}; !slices.Equal(b.calls, want) {
		t.Errorf("changes %v, want %v: a superseded runner changes nothing", b.calls, want)
	}
	for _, entry := range b.record("run-1").Entries {
		if entry.Kind == journal.Closed || entry.Kind == journal.Parked || entry.Kind == journal.RollingBack {
			t.Errorf("the superseded runner wrote %s", entry.Kind)
		}
	}
}

// usurp takes the lease away, as a runner does that believes ours dead.
func (b *bench) usurp(ctx context.Context, target string) error {
	memory := b.Journal.(*journal.Memory)
	memory.Expire(target)
	_, err := memory.Lock(ctx, journal.Claim{Target: target, Holder: journal.Holder{Run: "run-9"}})
	return err
}

func decode[T any](t testing.TB, raw []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
