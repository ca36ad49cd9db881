package show

import (
	"fmt"
	"time"

	"salve/internal/triage"
)

// The timeline's measures, in pixels: failures above, passes below on a scale of their own.
const (
	chartWidth  = 960.0
	chartLeft   = 44.0
	chartTop    = 10.0
	failHeight  = 150.0
	passGap     = 18.0
	passHeight  = 48.0
	chartFoot   = 26.0
	mostMoments = 400
)

// timelineView is what ended when.
type timelineView struct {
	Width, Height float64
	Left, Right   float64
	Base, PassTop float64 // of failures, and of passes
	Bars          []timeBar
	FailTicks     []tick
	PassTicks     []tick
	Times         []tick
	Legend        []heatColumn
	More          bool // there are groups without a colour of their own
	Day           string
	Rows          []momentRow
	Omitted       int
}

// timeBar is one rectangle.
type timeBar struct {
	X, Y, W, H string
	Class      string
	Title      string
	Hatched    bool // every other group, for those who see no colours
}

// tick is a label on an axis.
type tick struct {
	At   float64
	Text string
}

// momentRow is a moment in figures.
type momentRow struct {
	Time           string
	Passed, Failed int
	ByGroup        []int
}

// newTimeline is nil where there is nothing to draw.
func newTimeline(doc triage.Document) *timelineView {
	moments := doc.Timeline[:min(len(doc.Timeline), mostMoments)]
	mostFailed, mostPassed := 0, 0
	for _, m := range moments {
		mostFailed, mostPassed = max(mostFailed, m.Failed), max(mostPassed, m.Passed)
	}
	if mostFailed+mostPassed == 0 {
		return nil
	}
	view := &timelineView{
		Width: chartWidth, Left: chartLeft, Right: chartWidth - 8, Base: chartTop + failHeight,
		Day: day(moments), Omitted: len(doc.Timeline) - len(moments), More: len(doc.Groups) > groupColors,
	}
	view.PassTop = view.Base + passGap
	if mostFailed == 0 {
		view.PassTop = chartTop
	}
	view.Height = view.PassTop + passHeight + chartFoot
	for i, g := range doc.Groups[:min(len(doc.Groups), groupColors)] {
		view.Legend = append(view.Legend, heatColumn{Number: i + 1, Title: title(g), Color: groupColor(i)})
	}
	failScale, passScale := view.scales(mostFailed, mostPassed)
	for i, m := range moments {
		view.moment(doc, i, len(moments), m, [2]float64{failScale, passScale})
	}
	view.times(moments)
	return view
}

// scales labels both axes, and gives their pixels for each scenario. What has none has no axis.
func (v *timelineView) scales(failed, passed int) (failScale, passScale float64) {
	if failed > 0 {
		counts := ticks(failed)
		failScale = failHeight / float64(counts[len(counts)-1])
		for _, count := range counts {
			v.FailTicks = append(v.FailTicks, tick{v.Base - float64(count)*failScale, fmt.Sprint(count)})
		}
	}
	counts := ticks(passed)
	last := counts[len(counts)-1]
	v.PassTicks = []tick{{v.PassTop + passHeight, fmt.Sprint(last)}}
	return failScale, passHeight / float64(last)
}

// moment draws one part of the time, the first group at the bottom.
func (v *timelineView) moment(doc triage.Document, at, of int, m triage.Moment, scales [2]float64) {
	slot := (v.Right - v.Left) / float64(of)
	gap := min(4, slot/5)
	x, width := v.Left+float64(at)*slot+gap/2, slot-gap
	label := m.Time.UTC().Format("15:04")
	y := v.Base
	rest := m.Failed
	draw := func(count, group int, title string) {
		if count <= 0 {
			return
		}
		height := float64(count) * scales[0]
		y -= height
		v.Bars = append(v.Bars, timeBar{
			X: pixels(x), Y: pixels(y), W: pixels(width), H: pixels(height),
			Class: groupColor(group), Title: title, Hatched: group%2 == 1 && group < groupColors,
		})
	}
	for g, count := range m.ByGroup[:min(len(m.ByGroup), len(doc.Groups), groupColors)] {
		rest -= count
		draw(count, g, fmt.Sprintf("%s: %s of group %d", label, plural(count, "failure", "failures"), g+1))
	}
	draw(rest, groupColors, fmt.Sprintf("%s: %s of other groups", label, plural(rest, "failure", "failures")))
	if m.Passed > 0 {
		v.Bars = append(v.Bars, timeBar{
			X: pixels(x), Y: pixels(v.PassTop), W: pixels(width), H: pixels(float64(m.Passed) * scales[1]),
			Class: "passes", Title: fmt.Sprintf("%s: %d passed", label, m.Passed),
		})
	}
	v.Rows = append(v.Rows, momentRow{label, m.Passed, m.Failed, m.ByGroup[:min(len(m.ByGroup), len(v.Legend))]})
}

// times labels the axis, with seven labels or so.
func (v *timelineView) times(moments []triage.Moment) {
	slot := (v.Right - v.Left) / float64(len(moments))
	every := max(1, (len(moments)+6)/7)
	format := "15:04"
	if moments[len(moments)-1].Time.Sub(moments[0].Time) >= 24*time.Hour {
		format = "2 Jan 15:04"
	}
	for i := 0; i < len(moments); i += every {
		v.Times = append(v.Times, tick{v.Left + float64(i)*slot, moments[i].Time.UTC().Format(format)})
	}
}

// day is the date of the run, or both dates.
func day(moments []triage.Moment) string {
	first, last := moments[0].Time.UTC(), moments[len(moments)-1].Time.UTC()
	text := first.Format("2 January 2006")
	if end := last.Format("2 January 2006"); end != text {
		text += " to " + end
	}
	return text
}
