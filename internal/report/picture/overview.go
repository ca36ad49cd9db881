package picture

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/report/postmortem"
	"salve/runbook"
)

// overview draws all runs on one axis, below what was noticed and said; nil where a run's own panel shows all of it.
func overview(d postmortem.Draft) *Panel {
	noticed := noticedOf(d.Timeline)
	if len(d.Runs) == 1 && len(noticed) == 0 {
		return nil
	}
	var happened []Interval
	open := false
	for _, run := range d.Runs {
		happened = append(happened, forward(run.Opened, run.Last))
		open = open || isOpen(run)
	}
	for _, row := range noticed {
		for _, m := range row.moments {
			happened = append(happened, Interval{m.at, m.at})
		}
	}
	p := newPanel(happened, open)
	p.Title = "Overview"
	for _, r := range noticed {
		p.marks(Row{Kind: r.kind, Full: r.name, Note: plural(len(r.moments), r.one, r.many)}, r.moments)
	}
	p.runs(d)
	p.Text = p.overviewWords(d)
	return p
}

func isOpen(run postmortem.Run) bool { return strings.HasPrefix(run.State, "open") }

// noticed is a row of moments in the overview.
type noticed struct {
	kind      RowKind
	name      string
	one, many string
	moments   []moment
}

// noticedOf are the alarms, verdicts and messages that the timeline tells.
func noticedOf(t postmortem.Timeline) []noticed {
	rows := []noticed{
		{kind: Alarms, name: "alarms", one: "line of the watch", many: "lines of the watch"},
		{kind: Verdicts, name: "triage", one: "line of triage", many: "lines of triage"},
		{kind: Messages, name: "chat", one: "message that tells", many: "messages that tell"},
	}
	for _, e := range t.Events {
		at, m, found := noticing(e)
		if e.Telling && found {
			rows[at].moments = append(rows[at].moments, m)
		}
	}
	return slices.DeleteFunc(rows, func(r noticed) bool { return len(r.moments) == 0 })
}

// noticing is an event as a mark, and the row that it is in.
func noticing(e postmortem.Event) (row int, m moment, found bool) {
	m = moment{at: e.At, full: e.Text, what: oneLine(e.Source.Detail), count: max(e.Count, 1)}
	if e.Short != "" {
		m.full = e.Short
	}
	switch e.Kind {
	case postmortem.Found:
		m.shape = Raised
		if e.Source.Kind == postmortem.FromTriage {
			m.shape, m.what = Judged, "failures"
			return 1, m, true
		}
		return 0, m, true
	case postmortem.Cleared:
		m.shape = Cleared
		m.what += " gone"
		return 0, m, true
	case postmortem.Blinded:
		m.shape = Blind
		m.what += " blind"
		return 0, m, true
	case postmortem.Judged:
		m.shape, m.what = Judged, "verdict"
		return 1, m, true
	case postmortem.Said:
		m.shape = Said
		m.what, _, _ = strings.Cut(oneLine(m.full), ":")
		m.what = shortened(m.what, 14)
		return 2, m, true
	default:
		return 0, m, false
	}
}

// runs draws a row for each run: as long as it was open, with what it waited for an operator lighter.
func (p *Panel) runs(d postmortem.Draft) {
	for i, run := range d.Runs {
		if i == mostRuns {
			p.MoreRuns = len(d.Runs) - mostRuns
			return
		}
		tone := toneOfRun(run)
		row := p.add(Row{Kind: RunRow, Full: run.Run, Height: rowHeight, Tone: tone,
			Note: shortened(stateOf(run), noteRoom-8) + ", " + Lasting(run.Last.Sub(run.Opened))})
		whole := postmortem.Span{Kind: postmortem.Attempt, Began: run.Opened, Ended: run.Last, Open: isOpen(run)}
		b := p.bar(whole, *row)
		b.Tone, b.Sign = tone, ""
		b.sign()
		b.Title = titled("run %s, %s on %s: %s; %s", run.Run, run.Runbook, run.Target, run.State,
			between(run.Opened, run.Last))
		row.Bars = append(row.Bars, b)
		waits := of(d.Chart.Spans, func(s postmortem.Span) string {
			if s.Kind != postmortem.Person || s.Open {
				return ""
			}
			return s.Run
		}, run.Run)
		p.bars(row, waits)
	}
}

func stateOf(run postmortem.Run) string {
	return strings.TrimPrefix(run.State, "open: ")
}

func toneOfRun(run postmortem.Run) Tone {
	switch state := runbook.Outcome(run.State); {
	case isOpen(run):
		return Open
	case state.Successful(), state == runbook.NothingToDo:
		return Good
	case state == runbook.Failed:
		return Bad
	default:
		return Unknown
	}
}

func (p *Panel) overviewWords(d postmortem.Draft) string {
	parts := []string{fmt.Sprintf("%s, %s.", plural(len(d.Runs), "run", "runs"), between(p.first, p.last))}
	for _, row := range p.Rows {
		parts = append(parts, shortened(row.Full, 2*nameRoom)+": "+row.Note+".")
	}
	return shortened(strings.Join(parts, " "), wordRoom)
}
