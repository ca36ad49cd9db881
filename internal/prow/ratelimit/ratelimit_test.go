package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/clock"
	"salve/internal/prow/github"
	"salve/internal/prow/ratelimit"
)

// gauge shows what is left until the window ends, and a full window then.
type gauge struct {
	rate   github.Rate
	paused time.Time
}

func (g *gauge) Remaining() github.Rate {
	seen := g.rate
	if !time.Now().Before(g.rate.Reset) {
		seen.Known = false
	}
	if g.paused.After(time.Now()) {
		seen.PausedUntil = g.paused
	}
	return seen
}

func TestAPartOfAPlanWaitsForItsRoom(t *testing.T) {
	const hour = time.Hour
	for name, row := range map[string]struct {
		rate    github.Rate
		pause   time.Duration
		reserve int
		least   int
		waits   time.Duration
	}{
		"as much is left as it needs": {rate: github.Rate{Known: true, Limit: 5000, Remaining: 25}, least: 25},
		"one less is left": {rate: github.Rate{Known: true, Limit: 5000, Remaining: 24}, least: 25,
			waits: hour},
		"what is left to others is not its own": {rate: github.Rate{Known: true, Limit: 5000, Remaining: 25}, reserve: 1,
			least: 25, waits: hour},
		"half of a small window is enough": {rate: github.Rate{Known: true, Limit: 60, Remaining: 30}, least: 45},
		"half of what is not left to others, so": {rate: github.Rate{Known: true, Limit: 60, Remaining: 30}, reserve: 10,
			least: 45, waits: hour},
		"what nobody said is not waited for": {rate: github.Rate{Limit: 5000}, least: 25},
		"a pause is waited for": {rate: github.Rate{Known: true, Limit: 5000, Remaining: 5000},
			pause: time.Minute, least: 25, waits: time.Minute},
		"the later of both": {rate: github.Rate{Known: true, Limit: 5000}, pause: 2 * hour, least: 25,
			waits: 2 * hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				seen := &gauge{rate: row.rate}
				seen.rate.Reset = began.Add(hour)
				if row.pause > 0 {
					seen.paused = began.Add(row.pause)
				}
				var said []string
				err := ratelimit.Await(t.Context(), clock.Real{}, seen, row.reserve, row.least,
					func(text string) { said = append(said, text) })
				if waited := time.Since(began); err != nil || waited != row.waits || (len(said) > 0) != (row.waits > 0) {
					t.Errorf("waited %s for %v: %v", waited, said, err)
				}
				until := "waiting for GitHub's rate limit until " + began.Add(row.waits).UTC().Format(time.RFC3339)
				if row.waits > 0 && !slices.Equal(said, []string{until}) { // once, and not for something earlier first
					t.Errorf("said %q", said)
				}
			})
		})
	}
}

// stale is a gauge whose window has ended, and that nobody has asked since.
type stale struct{ rate github.Rate }

func (s stale) Remaining() github.Rate {
	seen := s.rate
	if !seen.PausedUntil.After(time.Now()) {
		seen.Known = false
	}
	return seen
}

// TestAPauseIsNotShortenedToTheEndOfAWindow: who asks before the end of a pause is blocked for longer.
func TestAPauseIsNotShortenedToTheEndOfAWindow(t *testing.T) {
	for _, reset := range []time.Duration{-time.Minute, 0, time.Minute, time.Hour - 1} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			seen := stale{github.Rate{Known: true, Limit: 5000, Reset: began.Add(reset), PausedUntil: began.Add(time.Hour)}}
			err := ratelimit.Await(t.Context(), clock.Real{}, seen, 0, 25, func(string) {})
			if waited := time.Since(began); err != nil || waited != time.Hour {
				t.Errorf("reset after %s: waited %s (%v)", reset, waited, err)
			}
		})
	}
}

func TestAWaitEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := ratelimit.Await(ctx, clock.Real{}, &gauge{paused: time.Now().Add(time.Hour)}, 0, 1, func(string) {})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
