package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/apierr"
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

func TestHeldTargetIsRefusedWithItsHolder(t *testing.T) {
	b := newBench(t)
	if _, err := b.Journal.Lock(context.Background(),
		journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-0", User: "ada", Host: "north"}}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Run(context.Background(), b.book(), engine.Options{})
	var held *journal.HeldError
	if !errors.As(err, &held) || held.Holder.User != "ada" || apierr.ClassOf(err) != apierr.Conflict {
		t.Errorf("got %v", err)
	}
}

// TestARunThatWasMovedKeepsItsTarget: it may be at work where it is now.
func TestARunThatWasMovedKeepsItsTarget(t *testing.T) {
	b := newBench(t)
	header := journal.Header{Schema: 1, Run: "run-0", Runbook: b.book().Name, Version: b.book().Version,
		Target: b.book().Target}
	record, err := journal.Create(context.Background(), b.Journal, journal.NoLease(3), time.Now, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Append(context.Background(), journal.Migrated, "",
		journal.Destination{Where: "a laptop", ID: "laptop"}); err != nil {
		t.Fatal(err)
	}
	var away *journal.ElsewhereError
	if _, err := b.Run(context.Background(), b.book(), engine.Options{}); !errors.As(err, &away) ||
		away.Open.Location != "a laptop" {
		t.Errorf("a new run: %v", err)
	}
	if _, err := b.Resume(context.Background(), b.book(), "run-0", engine.Options{}); !errors.As(err, &away) {
		t.Errorf("resuming it: %v", err)
	}
	if len(b.calls) > 0 {
		t.Errorf("changes %v", b.calls)
	}
}

// TestTheEpochIsAboveEveryRecords: also when the lease's own memory was lost.
func TestTheEpochIsAboveEveryRecords(t *testing.T) {
	b := newBench(t)
	header := journal.Header{Schema: 1, Run: "run-0", Runbook: "other", Version: "1", Target: b.book().Target}
	record, err := journal.Create(context.Background(), b.Journal, journal.NoLease(7), time.Now, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Append(context.Background(), journal.Closed, "",
		journal.Verdict{Outcome: runbook.Remediated}); err != nil {
		t.Fatal(err)
	}
	expect(t, b.run(b.book()), runbook.Remediated, "")
	if epoch := b.record("run-1").Epoch; epoch <= 7 {
		t.Errorf("the run's epoch is %d", epoch)
	}
}

func TestAPastDecisionCanBeMadeAgain(t *testing.T) {
	b := newBench(t)
	b.run(b.book())
	judged := 0
	for _, entry := range b.record("run-1").Entries {
		if entry.Kind != journal.Evaluated {
			continue
		}
		judged++
		var judgement journal.Evaluation
		if err := json.Unmarshal(entry.Data, &judgement); err != nil {
			t.Fatal(err)
		}
		if again := engine.Decide(runbook.FailClosed, judgement.Findings); again != judgement.Decision {
			t.Errorf("for %s: decided %+v, now %+v", judgement.For, judgement.Decision, again)
		}
	}
	if judged < 4 {
		t.Errorf("only %d judgements in the journal", judged)
	}
}

func TestPlanAndCheckChangeNothing(t *testing.T) {
	b := newBench(t)
	first, err := b.Plan(context.Background(), b.book(), engine.Options{})
	if err != nil || first.Plan == nil || len(first.Plan.Steps) != 2 || !first.Plan.Steps[1].Irreversible {
		t.Fatalf("plan %+v, %v", first.Plan, err)
	}
	again, err := b.Plan(context.Background(), b.book(), engine.Options{})
	if err != nil || again.Plan.Digest != first.Plan.Digest {
		t.Errorf("the same world gave digests %s and %s (%v)", first.Plan.Digest, again.Plan.Digest, err)
	}
	b.sees = func() runbook.Finding {
		return runbook.Yes("there it is").WithEvidence(runbook.Evidence{Source: "eye", Identity: "2"})
	}
	changed, err := b.Plan(context.Background(), b.book(), engine.Options{})
	if err != nil || changed.Plan.Digest == first.Plan.Digest {
		t.Errorf("other evidence gave the same digest (%v)", err)
	}
	if runs, _ := b.Journal.Runs(context.Background()); len(b.calls)+len(runs) > 0 {
		t.Errorf("changes %v, runs %v", b.calls, runs)
	}
}

func TestPlanOfAnOpenRunIsWhatIsLeft(t *testing.T) {
	b := newBench(t)
	b.run(b.stuck())
	before := len(b.record("run-1").Entries)
	result, err := b.Plan(context.Background(), b.book(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Plan == nil || len(result.Plan.Steps) != 1 || result.Plan.Steps[0].Name != "switch-off" {
		t.Errorf("plan %+v", result.Plan)
	}
	if len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "run-1") {
		t.Errorf("warnings %v", result.Warnings)
	}
	if after := len(b.record("run-1").Entries); after != before {
		t.Errorf("planning wrote %d entries", after-before)
	}
}

func TestAnOpenRunOfAnotherRunbookIsInTheWay(t *testing.T) {
	b := newBench(t)
	b.run(b.stuck())
	other := b.book()
	other.Name = "lamp-on"
	_, err := b.Run(context.Background(), other, engine.Options{})
	var usage *engine.InvalidError
	if !errors.As(err, &usage) {
		t.Errorf("got %v", err)
	}
}

func decode[T any](t testing.TB, raw []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
