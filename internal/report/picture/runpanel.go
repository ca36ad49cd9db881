package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/report/postmortem"
)

// runPanel draws one run: a row for each step, then what it waited for, sent and saw.
func runPanel(run postmortem.Run, chart postmortem.Chart) Panel {
	spans := of(chart.Spans, func(s postmortem.Span) string { return s.Run }, run.Run)
	sent := of(chart.Requests, func(o postmortem.Operation) string { return o.Run }, run.Run)
	nodes := of(chart.Readiness, func(r postmortem.Readiness) string { return r.Run }, run.Run)
	happened := []Interval{{run.Opened, run.Opened}, {run.Last, run.Last}}
	open := false
	for _, s := range spans {
		open = open || s.Open
		if s.Kind == postmortem.Attempt {
			happened = append(happened, forward(s.Began, s.Ended))
		} else { // waiting is nothing that happens
			happened = append(happened, Interval{s.Began, s.Began}, forward(s.Ended, s.Ended))
		}
	}
	for _, o := range sent {
		happened = append(happened, Interval{o.At, o.At})
	}
	for _, r := range nodes {
		happened = append(happened, Interval{r.At, r.At})
	}
	p := newPanel(happened, open)
	p.noReturn(spans)
	p.Run, p.Title = oneLine(run.Run), oneLine(run.Runbook+" on "+run.Target)
	p.steps(spans)
	p.persons(spans)
	p.requests(sent)
	p.nodes(nodes)
	p.Text = p.words(run)
	return *p
}

// of are those of one run.
func of[T any](all []T, name func(T) string, run string) []T {
	var found []T
	for _, one := range all {
		if name(one) == run {
			found = append(found, one)
		}
	}
	return found
}

// steps draws a row for each step. Of too many, those of which everything is done, and soonest, share the last row.
func (p *Panel) steps(spans []postmortem.Span) {
	byStep := map[string][]postmortem.Span{}
	var order []string
	for _, s := range spans {
		if s.Kind == postmortem.Person {
			continue
		}
		if byStep[s.Step] == nil {
			order = append(order, s.Step)
		}
		byStep[s.Step] = append(byStep[s.Step], s)
	}
	shown := telling(order, byStep)
	var rest []postmortem.Span
	for _, step := range order {
		if !shown[step] {
			p.MoreSteps++
			rest = append(rest, byStep[step]...)
			continue
		}
		tone, note := became(byStep[step])
		row := p.add(Row{Kind: Step, Full: step, Height: rowHeight, Note: note, Tone: tone})
		p.bars(row, byStep[step])
	}
	if p.MoreSteps > 0 {
		row := p.add(Row{Kind: Step, Full: plural(p.MoreSteps, "more step", "more steps"), Height: rowHeight,
			Note: plural(len(rest), "attempt or wait", "attempts and waits")})
		p.bars(row, rest)
	}
}

// telling are the steps that have a row of their own.
func telling(order []string, byStep map[string][]postmortem.Span) map[string]bool {
	ranked := slices.Clone(order)
	weight := func(step string) (weight float64) {
		for _, s := range byStep[step] {
			weight += max(0, s.Took().Seconds())
			if s.Irreversible || toneOf(s) == Bad || toneOf(s) == Unknown || toneOf(s) == Open || s.OverBudget() {
				weight += 1e12
			}
		}
		return weight
	}
	slices.SortStableFunc(ranked, func(a, b string) int { return cmp.Compare(weight(b), weight(a)) })
	shown := map[string]bool{}
	for _, step := range ranked[:min(len(ranked), mostRows)] {
		shown[step] = true
	}
	return shown
}

// bars draws spans in a row: as many as there can be told apart.
func (p *Panel) bars(row *Row, spans []postmortem.Span) {
	drawn := map[[2]float64]int{}
	for _, s := range spans {
		b := p.bar(s, *row)
		at := [2]float64{b.X, b.W}
		if i, there := drawn[at]; there && row.Bars[i].Tone == b.Tone {
			continue
		}
		drawn[at] = len(row.Bars)
		row.Bars = append(row.Bars, b)
	}
}

// became is what is to be said of a step: its last attempt, and how many there were.
func became(spans []postmortem.Span) (Tone, string) {
	var last postmortem.Span
	attempts := 0
	for _, s := range spans {
		if s.Kind == postmortem.Attempt {
			last = s
			attempts = max(attempts+1, min(s.Attempt, 1<<20))
		}
	}
	if attempts == 0 {
		return Waiting, "waited"
	}
	tone := toneOf(last)
	var note string
	switch {
	case last.Took() < 0:
		note = said(tone) + ", clock set back"
	case tone == Good && last.OverBudget():
		note = fmt.Sprintf("%s, budget %s", Lasting(last.Took()), Lasting(seconds(last.BudgetSeconds)))
	case tone == Good:
		note = Lasting(last.Took())
	case tone == Open:
		note = "no outcome recorded"
	case last.Later != "":
		note = "not known, later " + said(toneOfResult(last.Later))
	case tone == Unknown:
		note = "not known, " + Lasting(last.Took())
	default:
		note = said(tone) + ", " + Lasting(last.Took())
	}
	if attempts > 1 && cells(note) < noteRoom-8 {
		note += fmt.Sprintf(", try %d", attempts)
	}
	return tone, note
}

// persons draws when the run waited for somebody.
func (p *Panel) persons(spans []postmortem.Span) {
	var waits []postmortem.Span
	var all time.Duration
	open := false
	for _, s := range spans {
		if s.Kind == postmortem.Person {
			waits, all, open = append(waits, s), all+max(0, s.Took()), open || s.Open
		}
	}
	if len(waits) == 0 {
		return
	}
	row := Row{Kind: Person, Full: "waiting for an operator", Height: rowHeight, Note: Lasting(all), Tone: Waiting}
	if open {
		row.Note, row.Tone = "still waiting", Open
	}
	p.bars(p.add(row), waits)
}

// noReturn draws where the run could not go back any more.
func (p *Panel) noReturn(spans []postmortem.Span) {
	const label = "point of no return"
	for _, s := range spans {
		if s.Kind != postmortem.Attempt || !s.Irreversible || s.Attempt > 1 || len(p.NoReturn) == mostRows {
			continue
		}
		line := Line{X: p.scale.At(s.Began), Title: titled("%s: %s, %s", label, s.Step,
			s.Began.UTC().Format("2 Jan 2006 15:04:05 UTC"))}
		if n := len(p.NoReturn); n == 0 || line.X-p.NoReturn[n-1].X > (float64(len(label))+4)*letter {
			line.Label, line.LabelX = label, line.X+5
			if line.End = line.X > plotRight-float64(len(label))*letter; line.End {
				line.LabelX = line.X - 5
			}
		}
		p.NoReturn = append(p.NoReturn, line)
	}
	if len(p.NoReturn) > 0 {
		p.Top, p.Bottom = p.Top+lineRoom, p.Bottom+lineRoom
	}
}

// wordRoom bounds the description of a panel, in runes.
const wordRoom = 1500

// words say what the drawing shows.
func (p *Panel) words(run postmortem.Run) string {
	parts := []string{fmt.Sprintf("Run %s, %s.", oneLine(run.Run), between(run.Opened, run.Last))}
	for _, row := range p.Rows {
		if row.Note != "" {
			parts = append(parts, shortened(row.Full, 2*nameRoom)+": "+row.Note+".")
		}
	}
	for _, line := range p.NoReturn {
		parts = append(parts, line.Title+".")
	}
	return shortened(strings.Join(parts, " "), wordRoom)
}
