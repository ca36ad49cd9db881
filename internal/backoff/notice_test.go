package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
)

// TestAWaitIsSaid at once and then every ten seconds, for as long as a read is repeated.
func TestAWaitIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, said := time.Now(), []time.Duration{}
		ctx := backoff.WithNotice(t.Context(), func(backoff.Notice) { said = append(said, time.Since(began)) })
		stumbles := apierr.New(apierr.Transient, "503")
		err := backoff.Retry(ctx, clock.Real{}, func(context.Context) error { return stumbles })
		if !errors.Is(err, stumbles) {
			t.Fatal(err)
		}
		if len(said) < 10 || said[0] != 0 {
			t.Fatalf("said at %v", said)
		}
		for i := 1; i < len(said); i++ {
			if apart := said[i] - said[i-1]; apart < 10*time.Second || apart > 15*time.Second {
				t.Errorf("said at %s and then at %s", said[i-1], said[i])
			}
		}
	})
}

// TestWhatDoesNotHealIsNotRepeated: the first such failure is the answer.
func TestWhatDoesNotHealIsNotRepeated(t *testing.T) {
	refused := &apierr.Error{Class: apierr.Transient, Err: &apierr.PermanentError{Err: errors.New("connection refused")}}
	reads := 0
	ctx := backoff.WithNotice(t.Context(), func(backoff.Notice) { t.Error("a wait was said") })
	err := backoff.Retry(ctx, clock.Real{}, func(context.Context) error { reads++; return refused })
	if !errors.Is(err, refused) || reads != 1 {
		t.Errorf("%d reads: %v", reads, err)
	}
}
