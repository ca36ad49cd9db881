package page

import (
	"cmp"
	"strconv"

	"salve/internal/report/picture"
	"salve/internal/report/postmortem"
)

// figuresView is what the picture shows as tables.
type figuresView struct {
	Spans     []spanView
	Requests  []requestView
	Readiness []readinessView
	Many      bool // there are several runs
	Left      int
	Long      bool
	Rows      string
}

// spanView is a bar in figures.
type spanView struct{ Stamp, Began, Took, Run, Step, What, Became, Reason string }

// requestView is a mark in figures.
type requestView struct {
	Stamp, At, Run, Step, Method, Path, Answer string
	Count                                      int
}

// readinessView is a level in figures.
type readinessView struct {
	Stamp, At, Run, Pool string
	Ready, Nodes         int
	Gone                 bool
}

func (w *writer) figures() *figuresView {
	if len(w.draft.Runs) == 0 {
		return nil
	}
	view := &figuresView{Many: len(w.draft.Runs) > 1}
	space := room{figuresRoom}
	c := w.draft.Chart
	for _, s := range c.Spans {
		row := newSpan(s)
		if space.takes(rowOverhead, row.Run, row.Step, row.What, row.Became, row.Reason) {
			view.Spans = append(view.Spans, row)
		} else {
			view.Left++
		}
	}
	for _, o := range c.Requests {
		row := requestView{stamp(o.At), clock(o), one(o.Run), one(o.Step), one(o.Method), one(o.Path), answer(o),
			max(o.Count, 1)}
		if space.takes(rowOverhead, row.Run, row.Step, row.Method, row.Path, row.Answer) {
			view.Requests = append(view.Requests, row)
		} else {
			view.Left++
		}
	}
	for _, r := range c.Readiness {
		row := readinessView{stamp(r.At), r.At.UTC().Format("2 Jan 15:04:05"), one(r.Run), one(r.Pool), r.Ready, r.Nodes,
			r.Gone}
		if space.takes(rowOverhead, row.Run, row.Pool) {
			view.Readiness = append(view.Readiness, row)
		} else {
			view.Left++
		}
	}
	rows := len(view.Spans) + len(view.Requests) + len(view.Readiness)
	view.Rows, view.Long = plural(rows, "row", "rows"), rows > manyRows
	return view
}

func clock(o postmortem.Operation) string { return o.At.UTC().Format("2 Jan 15:04:05") }

func answer(o postmortem.Operation) string {
	if o.Status == 0 {
		return one("no answer " + o.Class)
	}
	return strconv.Itoa(o.Status)
}

func newSpan(s postmortem.Span) spanView {
	view := spanView{Stamp: stamp(s.Began), Began: s.Began.UTC().Format("2 Jan 15:04:05"), Took: picture.Lasting(s.Took()),
		Run: one(s.Run), Step: one(s.Step), Became: picture.Became(s), Reason: one(s.Reason)}
	switch s.Kind {
	case postmortem.Retry:
		view.What = "wait before attempt " + strconv.Itoa(s.Attempt)
	case postmortem.Person:
		view.What = "wait for an operator"
	default:
		view.What = "attempt " + strconv.Itoa(cmp.Or(s.Attempt, 1))
		if s.Irreversible {
			view.What += ", point of no return"
		}
	}
	if s.Open {
		view.Took = "not known"
	}
	if s.OverBudget() {
		view.Became += ", over its budget"
	}
	return view
}
