package page

import (
	"fmt"
	"strings"
	"time"

	"salve/internal/report"
	"salve/internal/report/postmortem"
	"salve/runbook"
)

// aboutView is what the draft is made from.
type aboutView struct {
	Redacted bool
	Runs     []runView
	Inputs   []string
	Left     int
	Items    itemsView
}

// runView is one run in short.
type runView struct {
	Run, What, Target, Actor string
	Mark, Tone, State        string
	Opened, Last, Took       string
	OpenedAt                 string
}

func (w *writer) aboutView(items itemsView, space *room) aboutView {
	view := aboutView{Redacted: w.draft.Redacted, Items: items}
	for _, run := range w.draft.Runs {
		if !space.takes(2*rowOverhead, run.Run, run.Runbook, run.Version, run.Target, run.Actor, run.State) {
			view.Left++
			continue
		}
		view.Runs = append(view.Runs, newRun(run))
	}
	for _, name := range w.draft.Inputs {
		if space.takes(rowOverhead, name) {
			view.Inputs = append(view.Inputs, one(name))
		} else {
			view.Left++
		}
	}
	return view
}

func newRun(run postmortem.Run) runView {
	view := runView{
		Run: one(run.Run), What: one(run.Runbook + " version " + run.Version), Target: one(run.Target), Actor: one(run.Actor),
		State: one(run.State), Opened: run.Opened.UTC().Format("2 Jan 2006 15:04:05"), OpenedAt: stamp(run.Opened),
		Last: run.Last.UTC().Format("15:04:05"), Took: took(run.Last.Sub(run.Opened)),
	}
	if run.Last.UTC().Format(time.DateOnly) != run.Opened.UTC().Format(time.DateOnly) {
		view.Last = run.Last.UTC().Format("2 Jan 15:04:05")
	}
	switch state := runbook.Outcome(run.State); {
	case state.Successful(), state == runbook.NothingToDo:
		view.Mark, view.Tone = "✓", "good"
	case state == runbook.Failed:
		view.Mark, view.Tone = "✕", "bad"
	default:
		view.Mark, view.Tone = "?", "known"
	}
	return view
}

// stamp is a time as machines read it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05Z") }

func took(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func plural(n int, singular, many string) string { return report.Count(n, singular, many) }

func times(n int) string { return fmt.Sprintf("%d times", n) }
