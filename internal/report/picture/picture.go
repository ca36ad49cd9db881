package picture

import (
	"time"

	"salve/internal/report/postmortem"
)

// Measures in pixels: names on the left, marks in the middle, what is to be said of a row on the right.
const (
	Width      = 960.0
	nameWidth  = 176.0
	plotLeft   = 186.0
	plotRight  = 772.0
	noteLeft   = 784.0
	openRoom   = 26.0 // for the arrow of a bar whose end nobody knows
	dayY       = 14.0
	tickY      = 32.0
	headHeight = 42.0
	lineRoom   = 16.0 // for the label of a line over all rows
	footHeight = 8.0
	rowHeight  = 24.0
	barHeight  = 14.0
	leastBar   = 2.0
)

// Bounds of a picture: the record has the rest.
const (
	mostPanels = 8
	mostRows   = 30 // steps of a panel
	mostRuns   = 20 // rows of the overview
	mostPools  = 6
)

// Picture is what is drawn: all runs on one axis, and each run on an axis of its own.
type Picture struct {
	// Overview is nil where there is one run and nothing beside it.
	Overview *Panel
	Runs     []Panel
	// MoreRuns counts runs without a panel, and Omitted the spans, requests and readings that the draft left out.
	MoreRuns, Omitted int
}

// Panel is one drawing.
type Panel struct {
	// Run is empty for the overview.
	Run          string
	Title        string
	Text         string // what the drawing shows, in words
	Height       float64
	Top, Bottom  float64 // of the plot
	Left, Right  float64
	NameX, NoteX float64
	DayY, TickY  float64
	LineY        float64 // of the labels of NoReturn
	Ticks, Days  []Tick
	Breaks       []Break
	Rows         []Row
	NoReturn     []Line
	MoreSteps    int // steps that share the last row of steps
	MorePools    int
	MoreRuns     int // in the overview
	scale        Scale
	first, last  time.Time
}

// Line is a moment drawn over all rows. Its label stands left or right of it, as there is room.
type Line struct {
	X      float64
	Label  string
	LabelX float64
	End    bool // the label ends at LabelX
	Title  string
}

// RowKind says what a row shows.
type RowKind string

// What a row may show.
const (
	Step     RowKind = "step"
	Person   RowKind = "person"
	Cloud    RowKind = "cloud"
	Cluster  RowKind = "cluster"
	Nodes    RowKind = "nodes"
	RunRow   RowKind = "run"
	Alarms   RowKind = "alarms"
	Verdicts RowKind = "verdicts"
	Messages RowKind = "messages"
)

// Row is one line of a panel.
type Row struct {
	Kind   RowKind
	Name   string // as it fits
	Full   string
	Y      float64 // the middle of its bars or marks, and of its words
	Top    float64
	Height float64
	Bars   []Bar
	Marks  []Mark
	Levels []Level
	Note   string
	Tone   Tone
}

// Tone is how far what a mark stands for went well.
type Tone string

// How far something went well. Open is what nobody knows the end of.
const (
	Good    Tone = "done"
	Bad     Tone = "failed"
	Unknown Tone = "unknown"
	Open    Tone = "open"
	Left    Tone = "skipped"
	Waiting Tone = "waiting"
)

// Bar is a stretch of time.
type Bar struct {
	X, Y, W, H float64
	Tone       Tone
	// Thin bars are waits.
	Thin bool
	// Over is the part beyond the budget; its width is 0 without one.
	OverX, OverW float64
	// Arrow tells that the bar goes on and nobody knows until when.
	Arrow bool
	// Sign is the tone without colours, where there is room for it; SignX is its middle.
	Sign  string
	SignX float64
	Title string
}

// New works out the picture of a draft; nil where there is nothing to draw.
func New(d postmortem.Draft) *Picture {
	if len(d.Runs) == 0 {
		return nil
	}
	p := &Picture{Omitted: d.Chart.Omitted, Overview: overview(d)}
	seen := map[string]bool{}
	for _, run := range d.Runs {
		if seen[run.Run] {
			continue
		}
		seen[run.Run] = true
		if len(p.Runs) == mostPanels {
			p.MoreRuns++
			continue
		}
		p.Runs = append(p.Runs, runPanel(run, d.Chart))
	}
	return p
}

// newPanel is a panel with its axis and no rows yet.
func newPanel(happened []Interval, open bool) *Panel {
	right := plotRight
	if open {
		right -= openRoom
	}
	scale := newScale(happened, plotLeft, right)
	return &Panel{
		Top: headHeight, Bottom: headHeight, Left: plotLeft, Right: plotRight, NameX: nameWidth, NoteX: noteLeft,
		DayY: dayY, TickY: tickY, LineY: headHeight + lineRoom - 5,
		Ticks: scale.Ticks(), Days: scale.Days(), Breaks: scale.Breaks(),
		scale: scale, first: scale.first(), last: scale.last(),
	}
}

// add puts a row below those that are there; what stands in it is placed by its middle.
func (p *Panel) add(row Row) *Row {
	row.Top, row.Y = p.Bottom, p.Bottom+row.Height/2
	row.Full = oneLine(row.Full)
	row.Name = shortened(row.Full, nameRoom)
	row.Note = shortened(oneLine(row.Note), noteRoom)
	p.Bottom += row.Height
	p.Height = p.Bottom + footHeight
	p.Rows = append(p.Rows, row)
	return &p.Rows[len(p.Rows)-1]
}
