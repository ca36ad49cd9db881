package kube

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// expectPanic checks that an error is a panic of code of these tests, told as an error.
func expectPanic(t *testing.T, err error, says string) {
	t.Helper()
	var panicked *apierr.PanicError
	if !errors.As(err, &panicked) || !strings.Contains(panicked.Stack, "panic_test.go") {
		t.Fatalf("got %v, want a panic with its stack", err)
	}
	if class := apierr.ClassOf(err); class != apierr.Unclassified || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, want %q", class, err, says)
	}
}

func TestPanicInParallelIsItsError(t *testing.T) {
	done := make([]bool, 3)
	err := Parallel(t.Context(), len(done), func(_ context.Context, i int) error {
		if i == 1 {
			panic("of one")
		}
		done[i] = true
		return nil
	})
	expectPanic(t, err, "panic: of one")
	if !done[0] || done[1] {
		t.Errorf("done: %v", done)
	}
}

// TestPanicOfThePreconditionEndsTheDrain: as one that does not hold.
func TestPanicOfThePreconditionEndsTheDrain(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"at once": 0, "later": 35 * time.Second} {
		t.Run(name, func(t *testing.T) {
			onAPI(t, []string{"web-0"}, func(t *testing.T, a *api, c *Cluster) {
				a.answer = neverAllowing
				start := time.Now()
				drained, err := c.Drain(under(t.Context(), nil), oneNode, DrainOptions{
					Deadline: time.Hour, PreconditionInterval: 10 * time.Second,
					Precondition: func(context.Context) error {
						if time.Since(start) >= after {
							panic("no answer")
						}
						return nil
					},
				})
				expectPanic(t, err, "draining: precondition failed: panic: no answer")
				if took := time.Since(start); took > after+10*time.Second || len(drained.Remaining) != 1 {
					t.Errorf("it ended after %s: %+v", took, drained)
				}
				seen := len(a.arrivals(""))
				if (seen == 0) != (after == 0) {
					t.Errorf("%d evictions were requested", seen)
				}
				time.Sleep(time.Hour)
				if now := len(a.arrivals("")); now != seen {
					t.Errorf("%d evictions were requested after the end", now-seen)
				}
			})
		})
	}
}

// TestPanicWhileEvictingEndsTheDrain: the permit asks the lease, which is not this package's.
func TestPanicWhileEvictingEndsTheDrain(t *testing.T) {
	t.Parallel()
	onAPI(t, []string{"web-0", "other-0"}, func(t *testing.T, a *api, c *Cluster) {
		granted := permit.Mint(permit.Terms{Expires: time.Now().Add(24 * time.Hour), Now: time.Now,
			Lease: func(context.Context) error { panic("of the lease") }})
		start := time.Now()
		drained, err := c.Drain(permit.NewContext(t.Context(), granted), oneNode, DrainOptions{Deadline: time.Hour})
		expectPanic(t, err, "draining: panic: of the lease")
		if took := time.Since(start); took > time.Minute || len(drained.Evicted) != 0 || len(a.arrivals("")) != 0 {
			t.Errorf("it ended after %s: %+v, requested %v", took, drained, a.arrivals(""))
		}
	})
}
