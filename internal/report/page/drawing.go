package page

import (
	"slices"

	"salve/internal/report/picture"
)

// pictureView is the drawings, and what their marks mean.
type pictureView struct {
	Drawn  bool
	Panels []panelView
	Legend []legendView
	// MoreRuns and Omitted say what is not drawn.
	MoreRuns, Omitted string
}

// panelView is one drawing.
type panelView struct {
	picture.Panel
	Number       int
	Rows         []drawnRow
	Breaks       []breakView
	High, Middle float64 // of the plot
	LineTop      float64
	Notes        []string
}

// drawnRow is a row with its marks as they are drawn.
type drawnRow struct {
	picture.Row
	Bars  []drawnBar
	Marks []drawnMark
}

// drawnBar is a bar with how it looks.
type drawnBar struct {
	picture.Bar
	Class, ArrowPath string
	OverY            float64
}

// overHigh is how high the strip is that marks what is beyond a budget.
const overHigh = 4.0

// drawnMark is a mark with its outline; a circle has none.
type drawnMark struct {
	picture.Mark
	Path string
}

// breakView is a break with the time that it leaves out, and its edges.
type breakView struct {
	picture.Break
	Middle        float64
	Text          string
	Upright       bool
	Before, After string
}

// legendView is a mark with its meaning.
type legendView struct{ Class, Text string }

func newPicture(p *picture.Picture) pictureView {
	if p == nil {
		return pictureView{}
	}
	view := pictureView{Drawn: true}
	if p.MoreRuns > 0 {
		view.MoreRuns = plural(p.MoreRuns, "more run has", "more runs have")
	}
	if p.Omitted > 0 {
		view.Omitted = plural(p.Omitted, "span, request or reading", "spans, requests and readings")
	}
	space := room{drawnRoom}
	panels := p.Runs
	if p.Overview != nil {
		panels = append([]picture.Panel{*p.Overview}, panels...)
	}
	for i, panel := range panels {
		view.Panels = append(view.Panels, newPanel(i, panel, &space))
	}
	view.Legend = legend(panels)
	return view
}

func newPanel(i int, p picture.Panel, space *room) panelView {
	view := panelView{Panel: p, Number: i, High: p.Bottom - p.Top, Middle: (p.Bottom + p.Top) / 2, LineTop: p.LineY - 10}
	for _, row := range p.Rows {
		view.Rows = append(view.Rows, drawn(row, space))
	}
	for _, b := range p.Breaks {
		view.Breaks = append(view.Breaks, breakView{Break: b, Middle: b.X + b.Width/2, Text: picture.Lasting(b.Left),
			Upright: view.High > 60, Before: wave(b.X, p.Top, p.Bottom), After: wave(b.X+b.Width, p.Top, p.Bottom)})
	}
	if p.MoreSteps > 0 {
		view.Notes = append(view.Notes, plural(p.MoreSteps, "step shares", "steps share")+" the last row of steps.")
	}
	if p.MorePools > 0 {
		view.Notes = append(view.Notes, plural(p.MorePools, "more pool is", "more pools are")+" not drawn.")
	}
	if p.MoreRuns > 0 {
		view.Notes = append(view.Notes, plural(p.MoreRuns, "more run is", "more runs are")+" not drawn.")
	}
	return view
}

// drawn is a row whose marks say what they are, as long as there is room.
func drawn(row picture.Row, space *room) drawnRow {
	view := drawnRow{Row: row}
	say := func(title string) string {
		if !space.takes(0, title) {
			return ""
		}
		return title
	}
	view.Levels = slices.Clone(row.Levels)
	for i := range view.Levels {
		view.Levels[i].Title = say(view.Levels[i].Title)
	}
	for _, b := range row.Bars {
		b.Title = say(b.Title)
		bar := drawnBar{Bar: b, Class: classOf(row, b), OverY: b.Y + b.H - overHigh}
		if b.Arrow {
			x, y := b.X+b.W, b.Y+b.H/2
			bar.ArrowPath = path(point{x + 3, y - 5}, point{x + 9, y}, point{x + 3, y + 5})
		}
		view.Bars = append(view.Bars, bar)
	}
	for _, m := range row.Marks {
		m.Title = say(m.Title)
		view.Marks = append(view.Marks, drawnMark{m, outline(m)})
	}
	return view
}

// classOf is how a bar looks.
func classOf(row picture.Row, b picture.Bar) string {
	if b.Thin && row.Kind == picture.Step {
		return "b-retry"
	}
	return "b-" + string(b.Tone)
}

// legend names the marks that there are.
func legend(panels []picture.Panel) []legendView {
	words := []legendView{
		{"b-done", "done"}, {"b-failed", "failed"}, {"b-unknown", "not known whether done"}, {"b-open", "no end recorded"},
		{"b-skipped", "skipped"}, {"b-over", "over its budget"}, {"b-retry", "wait before a retry"},
		{"b-waiting", "wait for an operator"}, {"l-return", "point of no return"}, {"m-sent", "request answered"},
		{"m-refused", "request refused"}, {"m-unanswered", "request without an answer"}, {"n-ready", "nodes ready"},
		{"n-missing", "nodes not ready"}, {"m-raised", "alarm"}, {"m-cleared", "alarm gone"}, {"m-blind", "rule can't see"},
		{"m-judged", "triage"}, {"m-said", "message"}, {"axis-break", "time left out"},
	}
	there := map[string]bool{}
	for _, p := range panels {
		there["l-return"] = there["l-return"] || len(p.NoReturn) > 0
		there["axis-break"] = there["axis-break"] || len(p.Breaks) > 0
		for _, row := range p.Rows {
			for _, b := range row.Bars {
				there[classOf(row, b)] = true
				there["b-over"] = there["b-over"] || b.OverW > 0
			}
			for _, m := range row.Marks {
				there["m-"+string(m.Shape)] = true
			}
			for _, l := range row.Levels {
				there["n-ready"] = there["n-ready"] || l.H > 0
				there["n-missing"] = there["n-missing"] || l.MissH > 0
			}
		}
	}
	return slices.DeleteFunc(words, func(l legendView) bool { return !there[l.Class] })
}
