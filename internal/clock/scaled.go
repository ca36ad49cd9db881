package clock

import (
	"time"

	kclock "k8s.io/utils/clock"
)

// Scaled is a clock that runs faster than the real one, for rehearsals.
type Scaled struct {
	real  kclock.RealClock
	start time.Time
	speed float64
}

// NewScaled gives a clock that shows start now and runs speed times as fast as
// the real one; speed must be above 0.
func NewScaled(speed float64) *Scaled {
	return &Scaled{start: time.Now(), speed: speed}
}

// Now is the scaled time.
func (s *Scaled) Now() time.Time {
	return s.start.Add(time.Duration(float64(time.Since(s.start)) * s.speed))
}

// Since is the scaled time that has passed since t.
func (s *Scaled) Since(t time.Time) time.Duration { return s.Now().Sub(t) }

func (s *Scaled) shorten(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.speed)
}

// After is time.After on the scaled clock.
func (s *Scaled) After(d time.Duration) <-chan time.Time { return s.real.After(s.shorten(d)) }

// NewTimer is time.NewTimer on the scaled clock.
func (s *Scaled) NewTimer(d time.Duration) kclock.Timer {
	return scaledTimer{s.real.NewTimer(s.shorten(d)), s}
}

// AfterFunc is time.AfterFunc on the scaled clock.
func (s *Scaled) AfterFunc(d time.Duration, f func()) kclock.Timer {
	return scaledTimer{s.real.AfterFunc(s.shorten(d), f), s}
}

// Sleep is time.Sleep on the scaled clock.
func (s *Scaled) Sleep(d time.Duration) { s.real.Sleep(s.shorten(d)) }

// Tick is time.Tick on the scaled clock.
func (s *Scaled) Tick(d time.Duration) <-chan time.Time { return s.real.Tick(s.shorten(d)) }

type scaledTimer struct {
	kclock.Timer
	scale *Scaled
}

// Reset changes the timer's duration, in scaled time.
func (t scaledTimer) Reset(d time.Duration) bool { return t.Timer.Reset(t.scale.shorten(d)) }
