package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/journal"
	"salve/runbook"
)

func TestPermitLastsAsLongAsItsStepSays(t *testing.T) {
	for _, row := range []struct {
		lasts, until time.Duration
		good         bool
	}{
		{until: 2*time.Minute - time.Second, good: true},
		{until: 2 * time.Minute},
		{lasts: time.Hour, until: time.Hour - time.Second, good: true},
		{lasts: time.Hour, until: time.Hour},
		{lasts: time.Second, until: time.Second},
	} {
		t.Run(fmt.Sprint(row.lasts, " ", row.until), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				book.Budget = 24 * time.Hour
				book.Steps[0].PermitLasts = row.lasts
				book.Steps[0].Apply = func(ctx context.Context, _ runbook.Run) error {
					time.Sleep(row.until)
					if err := runbook.PermitFrom(ctx).Authorize(ctx); (err == nil) != row.good {
						t.Errorf("after %s: %v", row.until, err)
					}
					return errStuck
				}
				b.run(book)
			})
		})
	}
}

// TestPermitIsForApplyAlone: whatever else a runbook's code does, it changes nothing.
func TestPermitIsForApplyAlone(t *testing.T) {
	b := newBench(t)
	b.faults["hang-sign"] = []error{errStuck}
	book := b.book()
	carried := map[string]bool{}
	note := func(what string, ctx context.Context) {
		carried[what] = carried[what] || runbook.PermitFrom(ctx).Authorize(ctx) == nil
	}
	step := &book.Steps[0]
	observe, apply := step.Observe, step.Apply
	step.Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
		note("Observe", ctx)
		return observe(ctx, run)
	}
	step.Apply = func(ctx context.Context, run runbook.Run) error {
		note("Apply", ctx)
		return apply(ctx, run)
	}
	step.Await = func(ctx context.Context, _ runbook.Run) error { note("Await", ctx); return nil }
	step.RetryWith = func(ctx context.Context, _ runbook.Run, _ error) (bool, error) {
		note("RetryWith", ctx)
		return true, nil
	}
	book.Guards[0].Evaluate = func(ctx context.Context, _ runbook.Run) runbook.Finding {
		note("Evaluate", ctx)
		return runbook.Yes("there it is")
	}
	expect(t, b.run(book), runbook.Remediated, "")
	for _, what := range []string{"Observe", "Apply", "Await", "RetryWith", "Evaluate"} {
		if may, seen := carried[what]; !seen || may != (what == "Apply") {
			t.Errorf("%s was called: %v, with a live permit: %v", what, seen, may)
		}
	}
}

// TestEachAttemptHasItsOwnPermit, which is void as soon as the attempt has ended.
func TestEachAttemptHasItsOwnPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.faults["hang-sign"] = []error{apierr.New(apierr.Throttled, "429")}
		book := b.book()
		var permits []runbook.Permit
		apply := book.Steps[0].Apply
		book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
			for _, before := range permits {
				if err := before.Authorize(ctx); apierr.ClassOf(err) != apierr.Conflict {
					t.Errorf("the permit of the attempt before: %v", err)
				}
			}
			permits = append(permits, runbook.PermitFrom(ctx))
			return apply(ctx, run)
		}
		expect(t, b.run(book), runbook.Remediated, "")
		if len(permits) != 2 || permits[0].ID() == permits[1].ID() {
			t.Errorf("the permits are %v", permits)
		}
	})
}

// TestLeftBehindCodeChangesNothing: its step is over, whatever its permit lasts.
func TestLeftBehindCodeChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		step := &book.Steps[0]
		step.Budget, step.Grace, step.PermitLasts = time.Minute, 10*time.Second, 24*time.Hour
		var late error
		over := make(chan struct{})
		step.Apply = func(ctx context.Context, _ runbook.Run) error {
			defer close(over)
			time.Sleep(time.Hour)
			late = b.call(ctx, "hang-sign", func() { b.sign = true })
			return late
		}
		began := time.Now()
		expect(t, b.run(book), runbook.Failed, "did not return within 10s after its context ended")
		if took := time.Since(began); took > 5*time.Minute {
			t.Errorf("the run hung on it for %s", took)
		}
		<-over
		if late == nil || b.sign || apierr.ClassOf(late) != apierr.Conflict {
			t.Errorf("an hour later it was told %v, sign %v", late, b.sign)
		}
	})
}

// TestLeaseLostBeforeAChangeAnnouncesNothing: the record of a superseded runner ends there.
func TestLeaseLostBeforeAChangeAnnouncesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		lose func(b *bench, book *runbook.Runbook)
		want []string
	}{
		"before the intent": {lose: func(b *bench, book *runbook.Runbook) {
			book.Steps[1].Observe = func(ctx context.Context, _ runbook.Run) runbook.Observation {
				if err := b.usurp(ctx, book.Target.ID); err != nil {
					return runbook.NotObserved(err)
				}
				return runbook.NotStarted("it shines")
			}
		}, want: []string{"evaluated step switch-off"}},
		"while inputs are made": {lose: func(b *bench, book *runbook.Runbook) {
			told := 0
			book.Steps[1].Inputs = func(runbook.Run) (any, error) {
				if told++; told == 2 { // the first is for the plan
					return nil, apierr.New(apierr.Conflict, "%v", b.usurp(context.Background(), book.Target.ID))
				}
				return "a switch", nil
			}
		}, want: []string{"evaluated step switch-off"}},
		"before the request": {lose: func(b *bench, book *runbook.Runbook) {
			apply := book.Steps[1].Apply
			book.Steps[1].Apply = func(ctx context.Context, run runbook.Run) error {
				return errors.Join(b.usurp(ctx, book.Target.ID), apply(ctx, run))
			}
		}, want: []string{"evaluated step switch-off", "intent switch-off"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				row.lose(b, &book)
				began := time.Now()
				result := b.run(book)
				expect(t, result, runbook.NeedsAttention, "lease lost")
				if result.Unrecorded || !result.Open || time.Since(began) != 0 {
					t.Errorf("after %s: %+v", time.Since(began), result)
				}
				b.expectStory(append([]string{"opened", "evaluated start", "planned", "evaluated step hang-sign",
					"intent hang-sign", "outcome hang-sign done"}, row.want...)...)
				if !slices.Equal(b.calls, []string{"hang-sign"}) {
					t.Errorf("changes %v", b.calls)
				}
			})
		})
	}
}

// TestLeaseLostInARollbackEndsIt without a word in the record.
func TestLeaseLostInARollbackEndsIt(t *testing.T) {
	b := newBench(t)
	b.faults["switch-off"] = []error{errStuck}
	book := b.book()
	book.Steps[0].Rollback.Observe = func(ctx context.Context, _ runbook.Run) runbook.Observation {
		if err := b.usurp(ctx, book.Target.ID); err != nil {
			return runbook.NotObserved(err)
		}
		return runbook.NotStarted("it hangs")
	}
	result := b.run(book)
	expect(t, result, runbook.NeedsAttention, "lease lost")
	if story := b.story(); story[len(story)-1] != "rolling-back failed" || !b.sign {
		t.Errorf("the journal ends with %q, sign out: %v", story[len(story)-1], b.sign)
	}
}

// answering is a server that answers everything, some time later; it accepts unless it
// has another status.
type answering struct {
	takes  time.Duration
	status int
}

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(a.takes)
	return &http.Response{StatusCode: cmp.Or(a.status, http.StatusAccepted), Body: http.NoBody}, nil
}

// request sends a change to a server, through a client that Salve builds.
func (a answering) request(ctx context.Context, path string) error {
	client := http.Client{Transport: &permit.Transport{Base: a}}
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, "https://lamp"+path, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func request(ctx context.Context, path string) error { return answering{}.request(ctx, path) }

// requests are those that the journal lists of a step's attempts.
func (b *bench) requests() (all []journal.Requests) {
	b.t.Helper()
	for _, entry := range b.record("run-1").Entries {
		if entry.Kind == journal.Requested {
			all = append(all, decode[journal.Requests](b.t, entry.Data))
		}
	}
	return all
}

func TestJournalHoldsWhatWasRequestedUnderAPermit(t *testing.T) {
	b := newBench(t)
	book := b.book()
	apply := book.Steps[0].Apply
	book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
		return errors.Join(request(ctx, "/a"), request(ctx, "/b"), request(ctx, "/a"), apply(ctx, run))
	}
	expect(t, b.run(book), runbook.Remediated, "")
	want := []journal.Request{
		{Method: http.MethodDelete, Path: "/a", Status: http.StatusAccepted, Count: 2},
		{Method: http.MethodDelete, Path: "/b", Status: http.StatusAccepted, Count: 1},
	}
	made := b.requests()
	if len(made) != 1 || !slices.Equal(made[0].Made, want) || made[0].Attempt != 1 || made[0].More != 0 ||
		made[0].Permit != b.record("run-1").Step("hang-sign").Permit {
		t.Errorf("the journal holds %+v, want %+v", made, want)
	}
}

// TestRequestsAreListedUpToABound, and counted from there.
func TestRequestsAreListedUpToABound(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Steps[0].Apply = func(ctx context.Context, _ runbook.Run) error {
		for i := range 1003 {
			if err := request(ctx, fmt.Sprint("/", i)); err != nil {
				return err
			}
		}
		b.sign = true
		return request(ctx, "/7")
	}
	expect(t, b.run(book), runbook.Remediated, "")
	made := b.requests()
	if len(made) != 1 || len(made[0].Made) != 1000 || made[0].More != 3 || made[0].Made[7].Count != 2 {
		t.Errorf("%d listed, %d more", len(made[0].Made), made[0].More)
	}
}

// TestRequestsOfAFailedAttemptAreKept before its outcome, and when they can't be the run
// stops there.
func TestRequestsOfAFailedAttemptAreKept(t *testing.T) {
	for name, lost := range map[string]bool{"kept": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			book := b.book()
			book.Steps[0].Apply = func(ctx context.Context, _ runbook.Run) error {
				if lost {
					return request(ctx, "/a")
				}
				return errors.Join(answering{status: http.StatusConflict}.request(ctx, "/a"), errStuck)
			}
			book.Steps[0].Await = func(context.Context, runbook.Run) error { t.Error("waited"); return nil }
			want := []string{"opened", "evaluated start", "planned", "evaluated step hang-sign", "intent hang-sign"}
			if lost {
				b.failOn(journal.Requested, "")
			} else {
				want = append(want, "requests hang-sign", "outcome hang-sign failed, never happened", "rolling-back failed",
					"outcome take-sign-in done observed", "closed failed")
			}
			if result := b.run(book); result.Unrecorded != lost {
				t.Errorf("ended %+v", result)
			}
			b.expectStory(want...)
		})
	}
}

// TestLateRequestsAndReportsHangOnNothing: what a step's code left running goes on when
// the run has long ended.
func TestLateRequestsAndReportsHangOnNothing(t *testing.T) {
	for name, fails := range map[string]error{"of a step that is done": nil, "of one that failed": errStuck} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { late(t, fails) }) })
	}
}

func late(t *testing.T, fails error) {
	b := newBench(t)
	book := b.book()
	apply := book.Steps[0].Apply
	over := make(chan error, 1)
	book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
		granted := permit.NewContext(t.Context(), runbook.PermitFrom(ctx))
		go func() {
			sent := answering{takes: time.Second}.request(granted, "/answered-late")
			run.Report(runbook.Progress{Text: "still here"})
			run.Summarize("late")
			if err := request(granted, "/late"); apierr.ClassOf(err) != apierr.Conflict {
				t.Errorf("a request after its step: %v", err)
			}
			over <- sent
		}()
		return errors.Join(answering{takes: time.Millisecond}.request(ctx, "/answered"), apply(ctx, run), fails)
	}
	b.run(book)
	if err := <-over; err != nil {
		t.Errorf("the request that was sent in time: %v", err)
	}
}

// TestRequestUnderWayIsNotCountedWithItsLikes: nobody knows its answer.
func TestRequestUnderWayIsNotCountedWithItsLikes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		apply := book.Steps[0].Apply
		book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
			if err := request(ctx, "/a"); err != nil {
				return err
			}
			go func() { _ = answering{takes: time.Hour}.request(context.WithoutCancel(ctx), "/a") }()
			synctest.Wait()
			return apply(ctx, run)
		}
		expect(t, b.run(book), runbook.Remediated, "")
		want := []journal.Request{
			{Method: http.MethodDelete, Path: "/a", Status: http.StatusAccepted, Count: 1},
			{Method: http.MethodDelete, Path: "/a", Count: 1},
		}
		if made := b.requests(); len(made) != 1 || !slices.Equal(made[0].Made, want) {
			t.Errorf("the journal holds %+v, want %+v", made, want)
		}
		time.Sleep(2 * time.Hour) // the answer comes, and nobody hears it
	})
}
