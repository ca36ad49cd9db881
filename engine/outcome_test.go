package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/journal"
	"salve/runbook"
)

func TestErrorThatNobodyClassifiedMayHaveHappened(t *testing.T) {
	for name, row := range map[string]struct {
		happened bool
		ends     runbook.Outcome
		calls    []string
	}{
		"it happened: the run goes on": {happened: true, ends: runbook.Remediated,
			calls: []string{"hang-sign", "switch-off"}},
		"it did not: the run fails and is rolled back": {ends: runbook.Failed, calls: []string{"hang-sign", "take-sign-in"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				apply := book.Steps[1].Apply
				book.Steps[1].Apply = func(ctx context.Context, run runbook.Run) error {
					if row.happened {
						if err := apply(ctx, run); err != nil {
							return err
						}
					}
					return errors.New("something went wrong")
				}
				if !row.happened {
					book.Steps[1].Irreversible = false
				}
				expect(t, b.run(book), row.ends, "")
				if !slices.Equal(b.calls, row.calls) {
					t.Errorf("changes %v, want %v", b.calls, row.calls)
				}
				for _, entry := range b.record("run-1").Entries {
					if entry.Kind == journal.Outcome && entry.Step == "switch-off" {
						if !strings.Contains(string(entry.Data), `"unknown"`) {
							t.Errorf("the first outcome is %s", entry.Data)
						}
						break
					}
				}
			})
		})
	}
}

func TestPanicIsNoAnswer(t *testing.T) {
	boom := func() { panic("boom") }
	for name, row := range map[string]struct {
		spoil  func(*runbook.Runbook)
		ends   runbook.Outcome
		reason string
	}{
		"in a guard": {ends: runbook.Undecided, reason: "boom", spoil: func(b *runbook.Runbook) {
			b.Guards[0].Evaluate = func(context.Context, runbook.Run) runbook.Finding { boom(); return runbook.Yes("") }
		}},
		"in Observe": {ends: runbook.Undecided, reason: "boom", spoil: func(b *runbook.Runbook) {
			b.Steps[0].Observe = func(context.Context, runbook.Run) runbook.Observation { boom(); return runbook.Done("") }
		}},
		"in Apply": {ends: runbook.Failed, reason: "boom", spoil: func(b *runbook.Runbook) {
			b.Steps[0].Apply = func(context.Context, runbook.Run) error { boom(); return nil }
		}},
		"in a check": {ends: runbook.NeedsAttention, reason: "boom", spoil: func(b *runbook.Runbook) {
			b.Checks[0].Evaluate = func(context.Context, runbook.Run) runbook.Finding { boom(); return runbook.Yes("") }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				row.spoil(&book)
				expect(t, b.run(book), row.ends, row.reason)
				kept := false
				for _, entry := range b.record("run-1").Entries {
					kept = kept || strings.Contains(string(entry.Data), "outcome_test.go")
				}
				if !kept && name != "in Observe" {
					t.Error("the journal holds no stack")
				}
			})
		})
	}
}

func TestCodeThatNeverReturnsIsLeftBehind(t *testing.T) {
	for name, row := range map[string]struct {
		hang func(*runbook.Runbook, <-chan struct{})
		ends runbook.Outcome
	}{
		"a guard is unknown": {ends: runbook.Undecided, hang: func(b *runbook.Runbook, end <-chan struct{}) {
			b.Guards[0].Evaluate = func(context.Context, runbook.Run) runbook.Finding { <-end; return runbook.Yes("late") }
		}},
		"an Apply may have happened": {ends: runbook.Failed, hang: func(b *runbook.Runbook, end <-chan struct{}) {
			b.Steps[0].Budget = time.Minute
			b.Steps[0].Apply = func(context.Context, runbook.Run) error { <-end; return nil }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				end := make(chan struct{})
				row.hang(&book, end)
				expect(t, b.run(book), row.ends, "timed out")
				close(end)
			})
		})
	}
}
