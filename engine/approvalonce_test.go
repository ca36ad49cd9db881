package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// TestApprovalIsUsedOnce: the process that used it died before it changed anything. Who resumes the run asks anew.
func TestApprovalIsUsedOnce(t *testing.T) {
	for name, crash := range map[string]func(b *bench, approved bool) bool{
		"between reading and recording it":       func(_ *bench, approved bool) bool { return !approved },
		"between recording it and the first use": func(_ *bench, approved bool) bool { return approved },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, people, options := gated(t)
				people.answer = saying(asIs)
				died := errors.New("the process died")
				dying := &dyingStore{Store: b.kept, err: died, at: func(line string) bool {
					isApproval := strings.Contains(line, `"kind":"approved"`)
					return isApproval && crash(b, false) || crash(b, true) && strings.Contains(line, `"for":"step hang-sign"`)
				}}
				b.Journal = dying
				if _, err := b.Run(context.Background(), b.book(), options); !errors.Is(err, died) {
					t.Fatalf("got %v", err)
				}
				b.Journal = b.kept
				result, err := b.Resume(context.Background(), b.book(), "run-1", engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				expect(t, result, runbook.Failed, "was not approved")
				b.expectNoChange(t)
				if len(people.asked) != 2 || people.asked[0].ID == people.asked[1].ID {
					t.Errorf("asked %+v", people.asked)
				}
			})
		})
	}
}

// dyingStore is the journal of a process that dies when it writes a certain line: nothing is written from then on.
type dyingStore struct {
	journal.Store
	at   func(line string) bool
	err  error
	dead bool
}

func (d *dyingStore) Append(ctx context.Context, run string, seq int, line []byte) error {
	if d.dead = d.dead || d.at(string(line)); d.dead {
		return d.err
	}
	return d.Store.Append(ctx, run, seq, line)
}

// TestStatementIsNotTakenTwice even where a question would be asked with the same ID.
func TestStatementIsNotTakenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		first := ""
		people.answer = saying(func(s *engine.Said) { first = s.ID })
		b.interruptedIn(0, options)
		people.said, people.answer = nil, saying(func(s *engine.Said) { s.ID = first })
		result, err := b.Resume(context.Background(), b.book(), "run-1", engine.Options{})
		if err == nil && strings.Contains(strings.Join(result.Warnings, "\n"), "it was used already") {
			return
		}
		t.Errorf("got %+v, %v", result, err)
	})
}

// interruptedIn leaves a run open that was stopped while it waited for a step.
func (b *bench) interruptedIn(step int, options engine.Options) {
	b.t.Helper()
	b.stopped(b.book(), step, options)
}

// stopped is interruptedIn for another book.
func (b *bench) stopped(book runbook.Runbook, step int, options engine.Options) {
	b.t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	book.Steps[step].Await = func(ctx context.Context, _ runbook.Run) error {
		cancel(engine.ErrInterrupted)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if result, err := b.Run(ctx, book, options); err != nil || !result.Open {
		b.t.Fatalf("%+v, %v", result, err)
	}
}

// TestResumedRunWaitsAgainUntilThePointOfNoReturn, and then no more: to finish is what leaves least broken.
func TestResumedRunWaitsAgainUntilThePointOfNoReturn(t *testing.T) {
	for name, row := range map[string]struct {
		stopIn int
		asks   int
		ends   runbook.Outcome
	}{
		"before it": {0, 2, runbook.Failed},
		"after it":  {1, 1, runbook.Remediated},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, people, options := gated(t)
				people.answer = saying(asIs)
				b.interruptedIn(row.stopIn, options)
				result, err := b.Resume(context.Background(), b.book(), "run-1", engine.Options{})
				if err != nil || result.Outcome != row.ends || len(people.asked) != row.asks {
					t.Errorf("%+v, %v, asked %d times", result, err, len(people.asked))
				}
			})
		})
	}
}

func TestRuleOfApprovalIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = saying(asIs)
		b.interruptedIn(0, options)
		other := engine.Options{Approval: &journal.ApprovalRule{WaitSeconds: 3600}}
		if _, err := b.Run(context.Background(), b.book(), other); err == nil ||
			!strings.Contains(err.Error(), "another rule of approval") {
			t.Errorf("another rule: %v", err)
		}
		b.Approvals = nil
		if _, err := b.Resume(context.Background(), b.book(), "run-1", engine.Options{}); err == nil ||
			!strings.Contains(err.Error(), "nowhere to look") {
			t.Errorf("without approvals: %v", err)
		}
	})
}

// TestWhatCannotBeSeenWasNotSaid.
func TestWhatCannotBeSeenWasNotSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.blind = apierr.New(apierr.Denied, "forbidden: no list")
		expect(t, b.runWith(b.book(), options), runbook.Failed, "approvals can't be seen: forbidden: no list")
		b.expectNoChange(t)
	})
}
