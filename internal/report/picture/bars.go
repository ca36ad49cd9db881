package picture

import (
	"fmt"
	"math"
	"time"

	"salve/internal/report/postmortem"
	"salve/journal"
)

// signRoom is how wide a bar must be for a sign.
const signRoom = 12.0

// bar draws a span in a row of a panel.
func (p *Panel) bar(s postmortem.Span, row Row) Bar {
	end := s.Ended
	if end.Before(s.Began) {
		end = s.Began
	}
	height := barHeight
	b := Bar{Tone: toneOf(s), Title: titleOf(s), Arrow: s.Open}
	if s.Kind != postmortem.Attempt {
		b.Thin, height = true, barHeight/2
		if s.Kind == postmortem.Person {
			height = barHeight - 4
		}
	}
	from, to := p.scale.At(s.Began), p.scale.At(end)
	if s.Open {
		to = max(to, min(from+openRoom/2, plotRight-openRoom/2))
	}
	b.X, b.W, b.H = from, rounded(max(to-from, leastBar)), height
	if b.X+b.W > plotRight {
		b.X = rounded(plotRight - b.W)
	}
	b.Y = rounded(row.Y - height/2)
	p.budget(&b, s)
	b.sign()
	return b
}

// budget marks what of a bar is beyond the budget.
func (p *Panel) budget(b *Bar, s postmortem.Span) {
	if s.Kind != postmortem.Attempt || !s.OverBudget() {
		return
	}
	at := p.scale.At(s.Began.Add(seconds(s.BudgetSeconds)))
	at = min(max(at, b.X), b.X+b.W)
	b.OverX, b.OverW = rounded(at), rounded(max(b.X+b.W-at, leastBar/2))
}

// seconds is a duration, also of a number that is none.
func seconds(s float64) time.Duration {
	const most = float64(math.MaxInt64) / float64(time.Second)
	if math.IsNaN(s) || s < 0 {
		return 0
	}
	if s >= most {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}

// sign says the tone without a colour, where there is room for it.
func (b *Bar) sign() {
	if b.Thin || b.W < signRoom {
		return
	}
	switch b.Tone {
	case Bad:
		b.Sign = "✕"
	case Unknown, Open:
		b.Sign = "?"
	default:
		return
	}
	b.SignX = rounded(b.X + b.W/2)
}

func toneOf(s postmortem.Span) Tone {
	switch {
	case s.Kind != postmortem.Attempt:
		return Waiting
	case s.Open:
		return Open
	default:
		return toneOfResult(s.Result)
	}
}

func toneOfResult(result journal.ResultKind) Tone {
	switch result {
	case journal.Done:
		return Good
	case journal.Failure:
		return Bad
	case journal.Skipped:
		return Left
	default:
		return Unknown
	}
}

// said is what became of an attempt, in words.
func said(t Tone) string {
	switch t {
	case Good:
		return "done"
	case Bad:
		return "failed"
	case Left:
		return "skipped"
	case Open:
		return "no outcome recorded"
	case Waiting:
		return "waited"
	default:
		return "not known whether done"
	}
}

// Became is what became of a span, in words.
func Became(s postmortem.Span) string {
	text := said(toneOf(s))
	if s.Later != "" {
		text += ", later seen to be " + said(toneOfResult(s.Later))
	}
	return text
}

// titleOf is what a bar says.
func titleOf(s postmortem.Span) string {
	when := between(s.Began, s.Ended) + ", " + Lasting(s.Took())
	switch {
	case s.Open:
		when = "from " + s.Began.UTC().Format("2 Jan 2006 15:04:05 UTC") + "; its end is not in the record"
	case s.Ended.Before(s.Began):
		when += " (a clock was set back)"
	}
	reason := ""
	if s.Reason != "" {
		reason = ": " + s.Reason
	}
	switch s.Kind {
	case postmortem.Retry:
		return titled("%s waited for attempt %d; %s", s.Step, s.Attempt, when)
	case postmortem.Person:
		return titled("run waited for an operator%s; %s", reason, when)
	default:
	}
	what := s.Step
	if s.Attempt > 1 {
		what += fmt.Sprintf(", attempt %d", s.Attempt)
	}
	if s.OverBudget() {
		when += ", over its budget of " + Lasting(seconds(s.BudgetSeconds))
	}
	return titled("%s: %s; %s%s", what, Became(s), when, reason)
}
