package picture

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Interval is a stretch of time in which something happened; an instant has no length.
type Interval struct{ From, To time.Time }

// forward is an interval that does not end before it begins: clocks are set back.
func forward(from, to time.Time) Interval {
	if to.Before(from) {
		to = from
	}
	return Interval{from, to}
}

func (i Interval) length() time.Duration { return i.To.Sub(i.From) }

// Scale maps times to pixels. Long stretches in which nothing happened are cut to breaks, so that what happened has
// room; between breaks each second has the same width.
type Scale struct {
	pieces      []stretch
	left, right float64
	// perSecond is the width of a second.
	perSecond float64
}

// stretch is a part of a scale: proportional, or a break.
type stretch struct {
	Interval
	x, width float64
	broken   bool
}

// Break is where a scale leaves out time.
type Break struct {
	X, Width float64
	Left     time.Duration
}

const (
	breakWidth = 34.0
	mostBreaks = 6
	// busyShare is how much of the width is to be of stretches in which something happened, and worthwhile how long a
	// gap must be, in parts of the time shown, to be cut.
	busyShare  = 0.25
	worthwhile = 0.1
	// alike is how long a gap must be, in parts of the longest, to be cut with it.
	alike = 0.8
	// briefest is what a scale shows at least.
	briefest = time.Second
)

// newScale makes a scale between two positions on which all that happened has a place.
func newScale(happened []Interval, left, right float64) Scale {
	busy := merged(happened)
	if len(busy) == 0 {
		busy = []Interval{{}}
	}
	first, last := busy[0].From, busy[len(busy)-1].To
	if short := briefest - last.Sub(first); short > 0 {
		first, last = first.Add(-short/2), last.Add(short-short/2)
	}
	s := Scale{left: left, right: right}
	at := first
	for _, gap := range gapsToCut(busy) {
		s.pieces = append(s.pieces, stretch{Interval: Interval{at, gap.From}}, stretch{Interval: gap, broken: true})
		at = gap.To
	}
	s.pieces = append(s.pieces, stretch{Interval: Interval{at, last}})
	s.place()
	return s
}

// place gives each stretch its position.
func (s *Scale) place() {
	shown, breaks := 0.0, 0.0
	for _, p := range s.pieces {
		if p.broken {
			breaks++
		} else {
			shown += p.length().Seconds()
		}
	}
	s.perSecond = (s.right - s.left - breaks*breakWidth) / shown
	x := s.left
	for i := range s.pieces {
		p := &s.pieces[i]
		p.x, p.width = x, breakWidth
		if !p.broken {
			p.width = p.length().Seconds() * s.perSecond
		}
		x += p.width
	}
}

// merged are intervals in order, those that touch as one.
func merged(all []Interval) []Interval {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Interval) int { return a.From.Compare(b.From) })
	var out []Interval
	for _, next := range sorted {
		if n := len(out); n > 0 && !next.From.After(out[n-1].To) {
			if next.To.After(out[n-1].To) {
				out[n-1].To = next.To
			}
			continue
		}
		out = append(out, next)
	}
	return out
}

// gapsToCut are the longest gaps between busy stretches, in order of time: as many as it takes for these to have a
// quarter of the width. What is left of a gap on either side keeps marks apart from the break.
func gapsToCut(busy []Interval) []Interval {
	const margin = 40
	total := busy[len(busy)-1].To.Sub(busy[0].From).Seconds()
	work := workOf(busy, total)
	var gaps []Interval
	for i := range busy[1:] {
		gaps = append(gaps, Interval{busy[i].To, busy[i+1].From})
	}
	slices.SortStableFunc(gaps, func(a, b Interval) int { return cmp.Compare(b.length(), a.length()) })
	cut, shown := 0, total
	for cut < min(len(gaps), mostBreaks) && work < busyShare*shown && gaps[cut].length().Seconds() >= worthwhile*shown {
		limit := alike * gaps[cut].length().Seconds()
		for ; cut < min(len(gaps), mostBreaks) && gaps[cut].length().Seconds() >= limit; cut++ {
			shown -= gaps[cut].length().Seconds()
		}
	}
	gaps = gaps[:cut]
	kept := max(seconds(shown/margin), briefest)
	for i, gap := range gaps {
		side := min(kept, gap.length()/4)
		gaps[i] = Interval{gap.From.Add(side), gap.To.Add(-side)}
	}
	slices.SortFunc(gaps, func(a, b Interval) int { return a.From.Compare(b.From) })
	return gaps
}

// workOf is how many seconds something happened. An instant counts as a fiftieth of the whole.
func workOf(busy []Interval, total float64) (work float64) {
	const instants = 50
	counted := 0.0
	for _, b := range busy {
		from := b.From.Sub(busy[0].From).Seconds()
		to := from + max(b.length().Seconds(), total/instants)
		work += max(0, to-max(from, counted))
		counted = max(counted, to)
	}
	return work
}

// At is where a time stands; one that the scale does not reach stands at its end.
func (s Scale) At(at time.Time) float64 {
	for _, p := range s.pieces {
		if at.After(p.To) {
			continue
		}
		if at.Before(p.From) {
			return p.x
		}
		share := 0.0
		if length := p.length(); length > 0 {
			share = float64(at.Sub(p.From)) / float64(length)
		}
		return rounded(p.x + share*p.width)
	}
	return rounded(s.right)
}

// Breaks are where time is left out.
func (s Scale) Breaks() []Break {
	var all []Break
	for _, p := range s.pieces {
		if p.broken {
			all = append(all, Break{rounded(p.x), breakWidth, p.length()})
		}
	}
	return all
}

// first and last are the ends of a scale.
func (s Scale) first() time.Time { return s.pieces[0].From }
func (s Scale) last() time.Time  { return s.pieces[len(s.pieces)-1].To }

// rounded is a position to a tenth of a pixel.
func rounded(x float64) float64 { return math.Round(10*x) / 10 }
