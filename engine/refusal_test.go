package engine_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/journal"
	"salve/runbook"
)

// service answers each path with a status, some time later.
type service struct {
	status map[string]int
	takes  time.Duration
}

func (s service) RoundTrip(request *http.Request) (*http.Response, error) {
	time.Sleep(s.takes)
	return &http.Response{StatusCode: s.status[request.URL.Path], Body: http.NoBody, Request: request}, nil
}

// deleting is an Apply that deletes paths in their order, up to the first that is not.
func (s service) deleting(paths ...string) func(context.Context, runbook.Run) error {
	client := http.Client{Transport: &permit.Transport{Base: s}}
	return func(ctx context.Context, _ runbook.Run) error {
		for _, path := range paths {
			request, err := http.NewRequestWithContext(ctx, http.MethodDelete, "https://world"+path, nil)
			if err != nil {
				return err
			}
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			_ = response.Body.Close()
			if response.StatusCode >= http.StatusBadRequest {
				return apierr.New(apierr.Terminal, "%s: %s", path, response.Status)
			}
		}
		return nil
	}
}

// TestARefusalThatItsRequestsContradictIsNone: what was accepted before the refusal
// came has happened. The world is asked, and nothing is rolled back on the ground of
// an irreversible change that was not made.
func TestARefusalThatItsRequestsContradictIsNone(t *testing.T) {
	for name, row := range map[string]struct {
		first      int
		crossed    bool
		rolledBack bool
		outcome    runbook.Outcome
	}{
		"the first was accepted":       {http.StatusOK, true, false, runbook.NeedsAttention},
		"the first may have happened":  {http.StatusServiceUnavailable, true, false, runbook.NeedsAttention},
		"the first was refused itself": {http.StatusUnprocessableEntity, false, true, runbook.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, observed := newBench(t), 0
				world := service{status: map[string]int{"/first": row.first, "/second": http.StatusUnprocessableEntity}}
				book := b.book()
				off := &book.Steps[1]
				off.Apply = world.deleting("/first", "/second")
				observe := off.Observe
				off.Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
					observed++
					if seen := observe(ctx, run); observed == 1 || !row.crossed {
						return seen
					}
					return runbook.NotStarted("one of two is gone").Partially()
				}
				result := b.run(book)
				expect(t, result, row.outcome, "/")
				if b.sign == row.rolledBack {
					t.Errorf("the sign hangs: %t, rolled back: %t", b.sign, row.rolledBack)
				}
				if history := b.record("run-1").Step("switch-off"); history.Crossed() != row.crossed {
					t.Errorf("the point of no return: %+v", history)
				}
				if row.crossed && observed < 2 {
					t.Error("the world was not asked")
				}
			})
		})
	}
}

// TestRequestsUnderWayAreListed: code that was left behind has sent something, and
// nobody waits for the answer.
func TestRequestsUnderWayAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		world := service{status: map[string]int{"/late": http.StatusOK}, takes: time.Hour}
		off := &book.Steps[1]
		off.Apply, off.Budget, off.Grace = world.deleting("/late"), time.Second, time.Second
		if _, err := b.Run(context.Background(), book, engine.Options{}); err != nil {
			t.Fatal(err)
		}
		var made []journal.Request
		for _, entry := range b.record("run-1").Entries {
			var requests journal.Requests
			if entry.Kind == journal.Requested && json.Unmarshal(entry.Data, &requests) == nil {
				made = append(made, requests.Made...)
			}
		}
		if len(made) == 0 || made[0].Path != "/late" || made[0].Status != 0 || made[0].Count != 1 {
			t.Errorf("the trail lists %+v", made)
		}
		time.Sleep(2 * time.Hour) // the code that was left behind ends
	})
}

func TestGuardCannotDeclareSuccess(t *testing.T) {
	for _, success := range []runbook.Outcome{runbook.Remediated, runbook.RolledOut} {
		b := newBench(t)
		b.sees = func() runbook.Finding { return runbook.No("never mind").WithOutcome(success) }
		expect(t, b.run(b.book()), runbook.Undecided, "a guard can't end a run as")
	}
}

// TestSkippingEverythingIsNoSuccess: nobody has done what was skipped.
func TestSkippingEverythingIsNoSuccess(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		floor := s.step("floor")
		floor.Skip = "not today"
		expect(t, b.run(s.book(2, floor)), runbook.NothingToDo, "every step was skipped")
	})
}

// TestWorkThatWasBegunIsNeverRefused: a process leaves no trail of requests. Of what has
// ended nothing is on its way, so that the world is asked at once.
func TestWorkThatWasBegunIsNeverRefused(t *testing.T) {
	for name, row := range map[string]struct {
		class   apierr.Class
		began   bool
		result  journal.ResultKind
		refused bool
	}{
		"refused":          {apierr.Terminal, false, journal.Failure, true},
		"failed":           {apierr.Terminal, true, journal.Failure, false},
		"may have worked":  {apierr.Unclassified, true, journal.Unknown, false},
		"nobody knows yet": {apierr.Unclassified, false, journal.Unknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, since := newBench(t), time.Now()
				err := apierr.New(row.class, "exit code 1")
				if row.began {
					err = &runbook.EndedError{Err: err}
				}
				book := b.book()
				book.Steps[1].Apply = func(context.Context, runbook.Run) error { return err }
				b.run(book)
				var first journal.Result
				for _, entry := range b.record("run-1").Entries {
					if entry.Kind == journal.Outcome && entry.Step == "switch-off" && first.Result == "" {
						first = decode[journal.Result](t, entry.Data)
					}
				}
				if first.Result != row.result || first.Refused != row.refused || first.Class != row.class {
					t.Errorf("the outcome is %+v", first)
				}
				if waits := row.class == apierr.Unclassified && !row.began; waits != (time.Since(since) > time.Minute) {
					t.Errorf("it took %s", time.Since(since))
				}
			})
		})
	}
}
