package rollout_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/runbook"
)

// TestBuildOutlastsAGuard: what takes too long is not known, and never "does not hold".
func TestBuildOutlastsAGuard(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		fails error
		ends  runbook.Outcome
		says  string
	}{
		"longer than a guard is waited for": {takes: 390 * time.Second, ends: runbook.RolledOut},
		"for hours":                         {takes: 3 * time.Hour, ends: runbook.RolledOut},
		"too long": {takes: 5 * time.Hour, ends: runbook.Undecided,
			says: "prepared is unknown: timed out"},
		"in vain": {fails: errors.New("no paper"), ends: runbook.Failed,
			says: "prepared does not hold: no paper"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				runner := b.runner()
				runner.Prepare = func(ctx context.Context) (string, error) {
					select {
					case <-time.After(test.takes):
						return "built", test.fails
					case <-ctx.Done():
						return "", context.Cause(ctx)
					}
				}
				result, err := runner.Run(t.Context(), b.plan("", "a"), rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				b.expect(result, test.ends, test.says)
				if built := test.ends == runbook.RolledOut; built != (len(b.calls) == 1) || result.Open {
					t.Errorf("ran %v, open %v", b.calls, result.Open)
				}
				if last := result.Findings[len(result.Findings)-1]; test.ends != runbook.RolledOut && !last.Locked {
					t.Errorf("an operator may override %+v", last)
				}
			})
		})
	}
}

// TestInterruptedBuildIsNoAnswer about what the steps need.
func TestInterruptedBuildIsNoAnswer(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		ctx, interrupt := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { interrupt(engine.ErrInterrupted) })
		runner := b.runner()
		runner.Prepare = func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
		result, err := runner.Run(ctx, b.plan("", "a"), rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.Failed, "interrupted before anything was changed")
	})
}
