package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
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
				if first := b.result("switch-off", 0); first.Result != journal.Unknown {
					t.Errorf("the first outcome is %+v", first)
				}
			})
		})
	}
}

// TestErrorsAreJournaledAsWhatTheyMean: of a request, whether it may have happened; of
// waiting for a change that was accepted, whether it may still happen.
func TestErrorsAreJournaledAsWhatTheyMean(t *testing.T) {
	const never, unknown, failed = "failed, never happened", "unknown", "failed"
	for class, row := range map[apierr.Class]struct{ apply, await string }{
		apierr.Transient:    {apply: unknown, await: unknown},
		apierr.Unclassified: {apply: unknown, await: unknown},
		apierr.Throttled:    {apply: never, await: unknown},
		apierr.Denied:       {apply: never, await: unknown},
		apierr.Conflict:     {apply: never, await: failed},
		apierr.Missing:      {apply: never, await: failed},
		apierr.Terminal:     {apply: never, await: failed},
	} {
		err := apierr.New(class, "no")
		for where, want := range map[string]string{"apply": row.apply, "await": row.await} {
			t.Run(string(class)+" "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t)
					book := b.book()
					if where == "apply" {
						b.faults["hang-sign"] = []error{err}
					} else {
						book.Steps[0].Await = func(context.Context, runbook.Run) error { return err }
					}
					b.run(book)
					if got := b.story()[5]; got != "outcome hang-sign "+want {
						t.Errorf("the journal tells %q, want %q", got, want)
					}
					if last := b.result("hang-sign", 0); last.Class != class || last.Reason != "no" || last.Attempt != 1 {
						t.Errorf("the journal holds %+v", last)
					}
				})
			})
		}
	}
}

// result is a step's outcome of a number, from 0.
func (b *bench) result(step string, number int) journal.Result {
	b.t.Helper()
	for _, entry := range b.record("run-1").Entries {
		if entry.Kind != journal.Outcome || entry.Step != step {
			continue
		}
		if number--; number < 0 {
			return decode[journal.Result](b.t, entry.Data)
		}
	}
	b.t.Errorf("step %s has no such outcome", step)
	return journal.Result{}
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
		"in Inputs": {ends: runbook.Failed, reason: "boom", spoil: func(b *runbook.Runbook) {
			b.Steps[0].Inputs = func(runbook.Run) (any, error) { boom(); return nil, nil }
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
				if !kept {
					t.Error("the journal holds no stack")
				}
			})
		})
	}
}

// TestCodeThatNeverReturnsIsLeftBehind when its time and its grace are over.
func TestCodeThatNeverReturnsIsLeftBehind(t *testing.T) {
	const lost = time.Minute + time.Second // then no request is on its way any longer
	for name, row := range map[string]struct {
		hang  func(*runbook.Runbook, <-chan struct{})
		ends  runbook.Outcome
		says  string
		takes time.Duration
	}{
		"a guard is unknown": {ends: runbook.Undecided, takes: 6*time.Minute + time.Minute,
			says: "did not return within 1m0s after its context ended (context deadline exceeded)",
			hang: func(b *runbook.Runbook, end <-chan struct{}) {
				b.Guards[0].Evaluate = func(context.Context, runbook.Run) runbook.Finding { <-end; return runbook.Yes("late") }
			}},
		"a step is not observed": {ends: runbook.Undecided, takes: 5*time.Minute + time.Minute,
			says: "did not return within 1m0s",
			hang: func(b *runbook.Runbook, end <-chan struct{}) {
				b.Steps[0].Observe = func(context.Context, runbook.Run) runbook.Observation { <-end; return runbook.Done("") }
			}},
		"an Apply may have happened": {ends: runbook.Failed, takes: time.Minute + time.Minute + lost,
			says: "step hang-sign: timed out: the runbook's code did not return within 1m0s",
			hang: func(b *runbook.Runbook, end <-chan struct{}) {
				b.Steps[0].Budget = time.Minute
				b.Steps[0].Apply = func(context.Context, runbook.Run) error { <-end; return nil }
			}},
		"a step may have its own grace": {ends: runbook.Failed, takes: time.Minute + 5*time.Minute + lost,
			says: "did not return within 5m0s",
			hang: func(b *runbook.Runbook, end <-chan struct{}) {
				b.Steps[0].Budget, b.Steps[0].Grace = time.Minute, 5*time.Minute
				b.Steps[0].Apply = func(context.Context, runbook.Run) error { <-end; return nil }
			}},
		"an Await": {ends: runbook.Failed, takes: time.Minute + 5*time.Minute, says: "not complete within 1m0s",
			hang: func(b *runbook.Runbook, end <-chan struct{}) {
				b.Steps[0].Budget, b.Steps[0].Grace = time.Minute, 5*time.Minute
				b.Steps[0].Await = func(context.Context, runbook.Run) error { <-end; return nil }
			}},
		"who returns in time is heard": {ends: runbook.Remediated, takes: time.Minute + 30*time.Second, says: "",
			hang: func(b *runbook.Runbook, _ <-chan struct{}) {
				b.Steps[0].Budget = time.Minute
				apply := b.Steps[0].Apply
				b.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
					err := apply(ctx, run)
					<-ctx.Done()
					time.Sleep(30 * time.Second)
					return err
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				end := make(chan struct{})
				row.hang(&book, end)
				began := time.Now()
				expect(t, b.run(book), row.ends, row.says)
				if took := time.Since(began); took != row.takes {
					t.Errorf("took %s, want %s", took, row.takes)
				}
				close(end)
			})
		})
	}
}
