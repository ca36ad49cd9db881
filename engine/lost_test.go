package engine_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/journal"
	"salve/runbook"
)

// TestALostRequestMayStillArrive: that it isn't seen yet is no proof for as long as it
// may be on its way. What is irreversible is not rolled back on that ground.
func TestALostRequestMayStillArrive(t *testing.T) {
	for name, row := range map[string]struct {
		lasts      time.Duration // of the attempt, until its answer is lost
		outcome    runbook.Outcome
		rolledBack bool
	}{
		"seconds later":        {0, runbook.NeedsAttention, false},
		"two minutes later on": {2 * time.Minute, runbook.NothingToDo, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book, asked := b.book(), 0
				b.sees = func() runbook.Finding { // it holds until the change was announced
					if asked++; asked > 3 {
						return runbook.No("it is somebody else's by now")
					}
					return runbook.Yes("there it is")
				}
				book.Steps[1].Apply = func(context.Context, runbook.Run) error {
					asked = 3
					time.Sleep(row.lasts)
					return errLost
				}
				expect(t, b.run(book), row.outcome, "somebody else's")
				if b.sign == row.rolledBack {
					t.Errorf("the sign hangs: %t, rolled back: %t", b.sign, row.rolledBack)
				}
			})
		})
	}
}

// TestAnAcceptedChangeWhoseWaitFailsIsUnknown until the world was asked: it is neither
// made again nor called failed.
func TestAnAcceptedChangeWhoseWaitFailsIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Steps[1].Await = func(context.Context, runbook.Run) error {
			return apierr.New(apierr.Transient, "connection reset")
		}
		expect(t, b.run(book), runbook.Remediated, "")
		var results []journal.ResultKind
		for _, entry := range b.record("run-1").Entries {
			if entry.Kind == journal.Outcome && entry.Step == "switch-off" {
				results = append(results, decode[journal.Result](t, entry.Data).Result)
			}
		}
		if fmt.Sprint(results) != "[unknown done]" {
			t.Errorf("the outcomes are %v", results)
		}
		if fmt.Sprint(b.calls) != "[hang-sign switch-off]" {
			t.Errorf("changes %v", b.calls)
		}
	})
}

// TestMoreRequestsThanAreListedAreNotKnown: one of them may have been accepted.
func TestMoreRequestsThanAreListedAreNotKnown(t *testing.T) {
	for extra, crossed := range map[int]bool{0: false, 1: true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			book, world := b.book(), service{status: map[string]int{}}
			client := http.Client{Transport: &permit.Transport{Base: world}}
			book.Steps[1].Apply = func(ctx context.Context, _ runbook.Run) error {
				for n := range 1000 + extra {
					path := fmt.Sprintf("/%d", n)
					world.status[path] = http.StatusUnprocessableEntity
					request, err := http.NewRequestWithContext(ctx, http.MethodDelete, "https://world"+path, nil)
					if err != nil {
						return err
					}
					response, err := client.Do(request)
					if err != nil {
						return err
					}
					_ = response.Body.Close()
				}
				return apierr.New(apierr.Terminal, "refused")
			}
			book.Steps[1].Observe = func(context.Context, runbook.Run) runbook.Observation {
				return runbook.NotStarted("it shines").Partially()
			}
			b.run(book)
			if history := b.record("run-1").Step("switch-off"); history.Crossed() != crossed {
				t.Errorf("%d more than are listed: %+v", extra, history)
			}
		})
	}
}

// cutOff is a service that takes the first of two requests, and whose answer to it is lost.
type cutOff struct{ service }

func (c cutOff) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Path == "/first" {
		return nil, io.ErrUnexpectedEOF
	}
	return c.service.RoundTrip(request)
}

// TestRefusalAfterALostAnswerIsNone: of two requests that are made side by side one was refused, and nobody knows of
// the other. The change may have happened, and is behind the point of no return.
func TestRefusalAfterALostAnswerIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		world := cutOff{service{status: map[string]int{"/second": http.StatusUnprocessableEntity}}}
		client := http.Client{Transport: &permit.Transport{Base: world}}
		book := b.book()
		book.Steps[1].Apply = func(ctx context.Context, _ runbook.Run) error {
			for _, path := range []string{"/first", "/second"} {
				request, err := http.NewRequestWithContext(ctx, http.MethodDelete, "https://world"+path, nil)
				if err != nil {
					return err
				}
				if response, err := client.Do(request); err == nil {
					_ = response.Body.Close()
				}
			}
			return apierr.New(apierr.Terminal, "refused")
		}
		book.Steps[1].Observe = func(context.Context, runbook.Run) runbook.Observation {
			return runbook.NotStarted("it shines").Partially()
		}
		b.run(book)
		if history := b.record("run-1").Step("switch-off"); !history.Crossed() || !b.sign {
			t.Errorf("the sign hangs: %t, %+v", b.sign, history)
		}
	})
}
