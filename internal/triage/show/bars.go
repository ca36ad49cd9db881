package show

import (
	"fmt"
	"math"

	"salve/internal/triage"
)

// barWidth is the width of an interval's picture, in pixels; one more of them is left on either side.
const barWidth = 160

// bar is an interval drawn on a scale.
type bar struct {
	From, Width, At float64
	Zero            float64 // where the scale's zero is
	Label           string
}

// newBar draws an interval on a scale from least to 1. What lies beyond it is drawn at its end.
func newBar(i triage.Interval, least float64, label string) *bar {
	const most = 1
	at := func(value float64) float64 {
		if math.IsNaN(value) {
			value = least
		}
		return 1 + math.Round(10*barWidth*(min(max(value, least), most)-least)/(most-least))/10
	}
	return &bar{From: at(i.Lower), Width: max(1, at(i.Upper)-at(i.Lower)), At: at(i.Estimate), Zero: at(0), Label: label}
}

// tableView is the 2×2 behind a candidate.
type tableView struct {
	triage.Candidate
	Rows []rateView
}

// rateView is one row of it.
type rateView struct {
	Name           string
	Failed, Passed int
	Rate, Interval string
	Bar            *bar
}

func newTable(at int, c triage.Candidate) tableView {
	others := "all others"
	if at > 0 {
		others = "others, less the above"
	}
	rate := func(name string, failed, passed int, i triage.Interval) rateView {
		return rateView{
			Name: name, Failed: failed, Passed: passed, Rate: percent(i.Estimate),
			Interval: percent(i.Lower) + " to " + percent(i.Upper), Bar: newBar(i, 0, interval(i)),
		}
	}
	return tableView{Candidate: c, Rows: []rateView{
		rate("with it", c.FailedWith, c.PassedWith, c.RateWith),
		rate(others, c.FailedWithout, c.PassedWithout, c.RateWithout),
	}}
}

// doseView is the 2×2 behind the alternative.
type doseView struct {
	triage.Reached
	Rates      [2]string
	Difference string
	Bar        *bar
}

func newDose(r *triage.Reached) *doseView {
	if r == nil {
		return nil
	}
	return &doseView{
		Reached: *r, Difference: points(r.Difference), Bar: newBar(r.Difference, -1, points(r.Difference)),
		Rates: [2]string{
			percent(share(r.FailedReach, r.FailedReach+r.PassedReach)),
			percent(share(r.FailedNoReach, r.FailedNoReach+r.PassedNoReach)),
		},
	}
}

// segment is one outcome's part of the run.
type segment struct {
	Name    string
	Count   int
	Share   string
	At, Per float64 // where it begins, and its width, in hundredths
}

// run is the outcomes one after the other.
func run(c triage.Counts) []segment {
	segments := []segment{
		{Name: "failed", Count: c.Failed}, {Name: "passed", Count: c.Passed}, {Name: "skipped", Count: c.Skipped},
	}
	all := c.Failed + c.Passed + c.Skipped
	at := 0.0
	for i := range segments {
		s := &segments[i]
		s.Share, s.At, s.Per = percent(share(s.Count, all)), at, 100*share(s.Count, all)
		at += s.Per
	}
	return segments
}

// mostPips is how many occurrences are drawn one by one.
const mostPips = 20

// pips are the occurrences up to the threshold, each as a class.
func pips(o *triage.Occurrences) []string {
	if o == nil || o.Threshold <= 0 || max(o.Threshold, o.Count) > mostPips {
		return nil
	}
	var all []string
	for i := range max(o.Threshold, o.Count) {
		switch {
		case i >= o.Count:
			all = append(all, "left")
		case o.Escalated:
			all = append(all, "over")
		default:
			all = append(all, "seen")
		}
	}
	return all
}

// ticks are round numbers from 0 to at least most, four at the most above 0.
func ticks(most int) []int {
	most = min(most, 1<<40) // beyond, the steps would not be held
	for scale := 1; ; scale *= 10 {
		for _, factor := range []int{1, 2, 5} {
			if step := scale * factor; step*4 >= most {
				return upTo(most, step)
			}
		}
	}
}

func upTo(most, step int) []int {
	all := []int{0}
	for at := step; ; at += step {
		all = append(all, at)
		if at >= most {
			return all
		}
	}
}

// pixels writes a coordinate.
func pixels(value float64) string { return fmt.Sprintf("%.1f", value) }
