package picture

import (
	"time"
)

// Tick is a label on the axis.
type Tick struct {
	X    float64
	Text string
	// Grid tells whether a line goes with it.
	Grid bool
}

const (
	tickGap  = 76.0 // from one label to the next
	dayGap   = 84.0
	mostMany = 64 // ticks of one stretch, whatever its times are
	aDay     = 24 * time.Hour
)

// steps are what lies between two ticks.
func steps() []time.Duration {
	s, m, h := time.Second, time.Minute, time.Hour
	return []time.Duration{
		s / 10, s / 5, s / 2, s, 2 * s, 5 * s, 10 * s, 15 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 15 * m, 30 * m,
		h, 2 * h, 3 * h, 6 * h, 12 * h, aDay, 2 * aDay, 5 * aDay, 10 * aDay, 20 * aDay, 50 * aDay, 100 * aDay,
		200 * aDay, 500 * aDay, 1000 * aDay, 2000 * aDay, 5000 * aDay, 10000 * aDay, 20000 * aDay,
	}
}

// Ticks are round times in UTC, as close as they can be read.
func (s Scale) Ticks() []Tick {
	step := s.tickStep()
	var all []Tick
	for _, p := range s.pieces {
		if p.broken {
			continue
		}
		before := len(all)
		for at := ceiling(p.From, step); !at.After(p.To) && len(all)-before < mostMany; at = at.Add(step) {
			all = append(all, Tick{s.At(at), at.UTC().Format(layoutOf(step)), true})
		}
		if len(all) == before { // no round time is in it
			all = append(all, Tick{rounded(p.x), p.From.UTC().Format(layoutOf(min(step, time.Second))), false})
		}
	}
	return apart(all, tickGap)
}

// tickStep is what lies between two ticks.
func (s Scale) tickStep() time.Duration {
	all := steps()
	for _, step := range all {
		if step.Seconds()*s.perSecond >= tickGap {
			return step
		}
	}
	return all[len(all)-1]
}

// ceiling is the first round time that is not before at. Days are counted from the Unix epoch.
func ceiling(at time.Time, step time.Duration) time.Time {
	at = at.UTC()
	round := at.Truncate(step)
	if step > aDay {
		days := at.Unix() / int64(aDay/time.Second)
		every := int64(step / aDay)
		round = time.Unix(days/every*every*int64(aDay/time.Second), 0).UTC()
	}
	if round.Before(at) {
		round = round.Add(step)
	}
	return round
}

func layoutOf(step time.Duration) string {
	switch {
	case step < time.Second:
		return "15:04:05.0"
	case step < time.Minute:
		return "15:04:05"
	case step < aDay:
		return "15:04"
	case step < 100*aDay:
		return "2 Jan"
	default:
		return "Jan 2006"
	}
}

// Days are the dates of the axis: of its beginning, and where another day begins.
func (s Scale) Days() []Tick {
	all := []Tick{{rounded(s.left), s.first().UTC().Format("2 Jan 2006"), false}}
	if s.tickStep() >= aDay {
		return all // the ticks are dates
	}
	before := s.first().UTC()
	for _, p := range s.pieces {
		if p.broken {
			continue
		}
		if from := p.From.UTC(); !sameDay(before, from) {
			all = append(all, Tick{rounded(p.x), from.Format("2 Jan 2006"), false})
			before = from
		}
		for range mostMany {
			next := before.Truncate(aDay).Add(aDay)
			if next.After(p.To) {
				break
			}
			all = append(all, Tick{s.At(next), next.Format("2 Jan 2006"), true})
			before = next
		}
	}
	return apart(all, dayGap)
}

func sameDay(a, b time.Time) bool { return a.Truncate(aDay).Equal(b.Truncate(aDay)) }

// apart leaves out, of labels in order, those that would stand on the one before.
func apart(all []Tick, gap float64) []Tick {
	var kept []Tick
	for _, tick := range all {
		if n := len(kept); n > 0 && tick.X-kept[n-1].X < gap-0.5 {
			continue
		}
		kept = append(kept, tick)
	}
	return kept
}
