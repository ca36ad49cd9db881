package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/backoff"
	"salve/internal/clock"
)

func TestPollingIsLateByAShareOfTheOperation(t *testing.T) {
	for _, length := range []time.Duration{10 * time.Second, 2 * time.Minute, 10 * time.Minute} {
		elapsed, polls := time.Duration(0), 0
		for elapsed < length {
			elapsed += backoff.Operations().Next(elapsed, 0)
			polls++
		}
		if late := elapsed - length; late > max(time.Second, length/40) {
			t.Errorf("an operation of %s is seen %s late", length, late)
		}
		if polls > 250 {
			t.Errorf("an operation of %s costs %d polls", length, polls)
		}
	}
}

func TestRetryAfterIsNeverUndercut(t *testing.T) {
	if got := backoff.Operations().Next(time.Second, 20*time.Second); got != 20*time.Second {
		t.Errorf("polling waits %s", got)
	}
	if got := backoff.Refusals().Pause(1, 90*time.Second); got != 90*time.Second {
		t.Errorf("after a refusal it waits %s", got)
	}
}

func TestBackoffGrowsToItsBound(t *testing.T) {
	last := time.Duration(0)
	for n := 1; n < 500; n++ {
		pause := backoff.Refusals().Pause(n, 0)
		if pause < last || pause > backoff.Refusals().Longest {
			t.Fatalf("pause %d is %s after %s", n, pause, last)
		}
		last = pause
	}
}

func TestTimeoutTellsItselfFromCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited, cancel := clock.WithTimeout(context.Background(), clock.Real{}, time.Minute)
		defer cancel()
		if err := clock.Sleep(limited, clock.Real{}, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("paused until %v", err)
		}
		limited, cancel = clock.WithTimeout(context.Background(), clock.Real{}, time.Minute)
		cancel()
		if err := clock.Sleep(limited, clock.Real{}, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("paused until %v", err)
		}
	})
}

func TestScaledClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scaled := clock.NewScaled(60)
		began, started := scaled.Now(), time.Now()
		if err := clock.Sleep(context.Background(), scaled, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started); took != 10*time.Second {
			t.Errorf("ten minutes took %s", took)
		}
		if passed := scaled.Since(began); passed != 10*time.Minute {
			t.Errorf("%s passed on the clock", passed)
		}
	})
}

// TestPollEnds when what is waited for is done, when a read fails, and when the time is over.
func TestPollEnds(t *testing.T) {
	blind := errors.New("403")
	for name, row := range map[string]struct {
		at   int // the read that ends it; none for 0
		err  error
		want error
	}{
		"done": {at: 3}, "a read fails": {3, blind, blind}, "the time is over": {0, nil, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limited, cancel := clock.WithTimeout(context.Background(), clock.Real{}, time.Minute)
				defer cancel()
				reads := 0
				err := backoff.Poll(limited, clock.Real{}, func(context.Context) (bool, error) {
					if reads++; reads != row.at {
						return false, nil
					}
					return row.err == nil, row.err
				})
				if !errors.Is(err, row.want) || row.at > 0 && reads != row.at || row.at == 0 && (reads < 50 || reads > 61) {
					t.Errorf("%v after %d reads", err, reads)
				}
			})
		})
	}
}
