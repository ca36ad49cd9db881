package simulation

import (
	"slices"
	"time"
)

// happen runs the scenarios, some at a time, and tries again what failed.
func (g *generator) happen() {
	free := make([]time.Time, g.between(6, 24))
	for i := range free {
		free[i] = g.begin.Add(time.Duration(g.IntN(20)) * time.Second)
	}
	for _, s := range g.scenarios {
		slot := 0
		for i := range free {
			if free[i].Before(free[slot]) {
				slot = i
			}
		}
		at := free[slot]
		for len(s.attempts) < g.style.retries {
			a := attempt{begin: at, failure: g.fails(s)}
			took := time.Duration(s.slow * float64(g.between(40, 260)) * float64(time.Second))
			if a.failure != nil {
				took *= 2
			}
			a.end = at.Add(took)
			at = a.end
			s.attempts = append(s.attempts, a)
			if a.failure == nil {
				break
			}
		}
		free[slot] = at.Add(time.Second)
	}
	if g.world.Kind == None {
		g.recover()
	}
	if g.abort != "" {
		g.cut()
	}
	for _, s := range g.scenarios {
		if last := s.last(); last != nil && last.failure != nil && !s.lost && !s.missing {
			g.world.Truth.Failing[s.name] = last.failure.cause
		}
	}
}

// last is the last attempt; nil if there is none.
func (s *scenario) last() *attempt {
	if len(s.attempts) == 0 {
		return nil
	}
	return &s.attempts[len(s.attempts)-1]
}

// fails is why an attempt of a scenario does; nil: it doesn't.
func (g *generator) fails(s *scenario) *failure {
	for _, f := range g.faults {
		again := len(s.attempts) > 0 && f.lasting && s.attempts[0].failure.cause == f.cause
		share := f.share
		if again {
			share = 0.97
		}
		if f.hits(s) && g.chance(share) {
			return &failure{cause: f.cause, text: f.text, message: g.fill(f.text, g.changed.name)}
		}
	}
	switch {
	case g.chance(g.style.noise):
		t := pick(g, noiseTexts())
		return &failure{cause: Noise, text: t, message: g.fill(t, "")}
	case g.chance(g.style.timeouts):
		return &failure{cause: Noise, text: timeout(), message: g.fill(timeout(), "")}
	}
	return nil
}

// recover lets everything pass at last.
func (g *generator) recover() {
	for _, s := range g.scenarios {
		for last := s.last(); last.failure != nil; last = s.last() {
			s.attempts = append(s.attempts, attempt{begin: last.end, end: last.end.Add(90 * time.Second)})
		}
	}
}

// cut ends the run before its time: what runs then has no end, what comes later never began.
func (g *generator) cut() {
	var ends []time.Time
	for _, s := range g.scenarios {
		ends = append(ends, s.last().end)
	}
	slices.SortFunc(ends, time.Time.Compare)
	at := ends[len(ends)*g.between(30, 85)/100]
	for _, s := range g.scenarios {
		begun := slices.IndexFunc(s.attempts, func(a attempt) bool { return a.begin.After(at) })
		if begun >= 0 {
			s.attempts = s.attempts[:begun]
		}
		switch last := s.last(); {
		case last == nil:
			s.missing = true
		case last.end.After(at):
			last.end, s.lost = at, true
			last.failure = nil
			s.missing = g.abort == "fewer"
		}
	}
}
