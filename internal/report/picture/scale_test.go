package picture

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2019, 2, 5, 12, 0, 0, 0, time.UTC)

func stretchOf(from, to time.Duration) Interval { return Interval{noon.Add(from), noon.Add(to)} }

func at(d time.Duration) Interval { return stretchOf(d, d) }

func TestLongPausesAreCut(t *testing.T) {
	const m, h, d = time.Minute, time.Hour, 24 * time.Hour
	for name, test := range map[string]struct {
		happened []Interval
		want     string // the time that each break leaves out
	}{
		"nothing":                     {nil, "[]"},
		"one instant":                 {[]Interval{at(0)}, "[]"},
		"one stretch":                 {[]Interval{stretchOf(0, 10*m)}, "[]"},
		"a pause as long as work":     {[]Interval{stretchOf(0, 10*m), stretchOf(20*m, 30*m)}, "[]"},
		"an hour between ten minutes": {[]Interval{stretchOf(0, 10*m), stretchOf(60*m, 70*m)}, "[]"},
		"two hours":                   {[]Interval{stretchOf(0, 10*m), stretchOf(130*m, 140*m)}, "[1h59m0s]"},
		"two days":                    {[]Interval{stretchOf(0, 10*m), stretchOf(2*d, 2*d+10*m)}, "[47h49m0s]"},
		"five days of work":           {[]Interval{stretchOf(0, 5*d)}, "[]"},
		"two instants, far apart":     {[]Interval{at(0), at(10 * h)}, "[9h59m58s]"},
		"pauses alike are cut alike": {[]Interval{stretchOf(0, 10*m), stretchOf(130*m, 140*m), stretchOf(260*m, 270*m)},
			"[1h58m30s 1h58m30s]"},
		"many short pauses stay": {[]Interval{at(0), at(1 * m), at(2 * m), at(3 * m), at(4 * m), at(5 * m), at(6 * m),
			at(7 * m), at(8 * m), at(9 * m), at(10 * m), at(11 * m)}, "[]"},
		"what overlaps is one":     {[]Interval{stretchOf(0, 50*m), stretchOf(10*m, 20*m), stretchOf(50*m, 60*m)}, "[]"},
		"in any order":             {[]Interval{stretchOf(130*m, 140*m), stretchOf(0, 10*m)}, "[1h59m0s]"},
		"an end before the begin":  {[]Interval{forward(noon, noon.Add(-h)), stretchOf(0, 10*m)}, "[]"},
		"the ends of the calendar": {[]Interval{{time.Time{}, time.Time{}}, {noon, noon}}, "[2562047h47m16.854775807s]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScale(test.happened, 100, 700)
			var left []time.Duration
			for _, b := range s.Breaks() {
				left = append(left, b.Left)
			}
			if got := fmt.Sprint(left); got != test.want {
				t.Errorf("left out %s, want %s", got, test.want)
			}
			expectSound(t, s, test.happened)
		})
	}
}

// expectSound: time goes to the right, and nothing is outside.
func expectSound(t *testing.T, s Scale, happened []Interval) {
	t.Helper()
	var moments []time.Time
	for _, i := range happened {
		moments = append(moments, i.From, i.To)
	}
	slices.SortFunc(moments, time.Time.Compare)
	before := math.Inf(-1)
	for _, m := range moments {
		x := s.At(m)
		if x < 100 || x > 700 || x < before || math.IsNaN(x) {
			t.Errorf("%s stands at %v after %v", m, x, before)
		}
		for _, b := range s.Breaks() {
			if x > b.X && x < b.X+b.Width {
				t.Errorf("%s stands in a break", m)
			}
		}
		before = x
	}
	if x := s.At(noon.AddDate(-9000, 0, 0)); x != 100 {
		t.Errorf("what is before stands at %v", x)
	}
	if x := s.At(noon.AddDate(9000, 0, 0)); x != 700 {
		t.Errorf("what is after stands at %v", x)
	}
	for _, ticks := range [][]Tick{s.Ticks(), s.Days()} {
		for i, tick := range ticks {
			for _, b := range s.Breaks() {
				if tick.X > b.X+0.1 && tick.X < b.X+b.Width-0.1 {
					t.Errorf("%+v stands in the break at %v", tick, b.X)
				}
			}
			if tick.X < 100 || tick.X > 700 || i > 0 && tick.X-ticks[i-1].X < tickGap-1 {
				t.Errorf("tick %d of %+v", i, ticks)
			}
		}
		if len(ticks) == 0 {
			t.Error("an axis without a label")
		}
	}
}

func TestHalfOfTheTimeStandsInTheMiddle(t *testing.T) {
	s := newScale([]Interval{stretchOf(0, time.Hour), stretchOf(time.Minute, 2*time.Minute)}, 100, 700)
	for share, want := range map[float64]float64{0: 100, 0.25: 250, 0.5: 400, 1: 700} {
		if got := s.At(noon.Add(time.Duration(share * float64(time.Hour)))); got != want {
			t.Errorf("%v of the time stands at %v, want %v", share, got, want)
		}
	}
}

func TestTicksAreRound(t *testing.T) {
	const m, h, d = time.Minute, time.Hour, 24 * time.Hour
	for name, test := range map[string]struct {
		happened []Interval
		want     string
	}{
		"one instant":  {[]Interval{at(0)}, "11:59:59.6 11:59:59.8 12:00:00.0 12:00:00.2 12:00:00.4"},
		"five seconds": {[]Interval{stretchOf(0, 5*time.Second)}, "12:00:00 12:00:01 12:00:02 12:00:03 12:00:04 12:00:05"},
		"two minutes":  {[]Interval{stretchOf(0, 2*m)}, "12:00:00 12:00:30 12:01:00 12:01:30 12:02:00"},
		"not from a round time": {[]Interval{stretchOf(7*time.Second, 12*m)},
			"12:02 12:04 12:06 12:08 12:10 12:12"},
		"a day":     {[]Interval{stretchOf(0, d)}, "12:00 18:00 00:00 06:00 12:00"},
		"five days": {[]Interval{stretchOf(0, 5*d)}, "6 Feb 7 Feb 8 Feb 9 Feb 10 Feb"},
		"a month":   {[]Interval{stretchOf(0, 31*d)}, "8 Feb 13 Feb 18 Feb 23 Feb 28 Feb 5 Mar"},
		"years": {[]Interval{stretchOf(0, 1500*d)},
			"Apr 2019 Oct 2019 May 2020 Dec 2020 Jun 2021 Jan 2022 Jul 2022 Feb 2023"},
		"beyond a pause": {[]Interval{stretchOf(0, 10*m), stretchOf(9*h, 9*h+10*m)},
			"12:00 12:05 12:10 21:05 21:10"},
	} {
		t.Run(name, func(t *testing.T) {
			text := ""
			for _, tick := range newScale(test.happened, 100, 700).Ticks() {
				text += " " + tick.Text
			}
			if text != " "+test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}

func TestDaysAreNamedOnce(t *testing.T) {
	const h, d = time.Hour, 24 * time.Hour
	for name, test := range map[string]struct {
		happened []Interval
		want     string
	}{
		"one day":              {[]Interval{stretchOf(0, h)}, "[5 Feb 2019]"},
		"over midnight":        {[]Interval{stretchOf(6*h, 18*h)}, "[5 Feb 2019 6 Feb 2019]"},
		"beyond a pause":       {[]Interval{stretchOf(0, h), stretchOf(2*d, 2*d+h)}, "[5 Feb 2019 7 Feb 2019]"},
		"where ticks are days": {[]Interval{stretchOf(0, 31*d)}, "[5 Feb 2019]"},
	} {
		t.Run(name, func(t *testing.T) {
			var days []string
			for _, tick := range newScale(test.happened, 100, 700).Days() {
				days = append(days, tick.Text)
			}
			if got := fmt.Sprint(days); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestAxesHaveAFewTicks whatever they reach over: no step from one to the next round time is too long.
func TestAxesHaveAFewTicks(t *testing.T) {
	for length := time.Second; length < 90_000*24*time.Hour; length += length / 20 {
		s := newScale([]Interval{stretchOf(0, length)}, 100, 700)
		if n := len(s.Ticks()); n < 3 || n > 8 {
			t.Errorf("%s has %d ticks: %+v", Lasting(length), n, s.Ticks())
		}
	}
}

// TestBreaksStandInOrder of time, not of their lengths.
func TestBreaksStandInOrder(t *testing.T) {
	const h = time.Hour
	s := newScale([]Interval{stretchOf(0, h/10), stretchOf(20*h, 20*h+h/10), stretchOf(42*h, 42*h+h/10)}, 100, 700)
	breaks := s.Breaks()
	if len(breaks) != 2 || breaks[0].Left > breaks[1].Left || breaks[0].X > breaks[1].X {
		t.Fatalf("%+v", breaks)
	}
	if got := fmt.Sprint(s.Days()[0].Text, s.Days()[1].Text); got != "5 Feb 20196 Feb 2019" {
		t.Errorf("days %s", got)
	}
}

func TestSecondsOfAnyNumber(t *testing.T) {
	for given, want := range map[float64]time.Duration{
		1.5: 1500 * time.Millisecond, -1: 0, 1e300: math.MaxInt64, math.Inf(1): math.MaxInt64, 0: 0,
	} {
		if got := seconds(given); got != want {
			t.Errorf("%v is %v, want %v", given, got, want)
		}
	}
	if got := seconds(math.NaN()); got != 0 {
		t.Errorf("no number is %v", got)
	}
}
