package postmortem

import (
	"cmp"
	"fmt"
	"slices"

	"salve/internal/report"
	"salve/journal"
)

func (r *runStory) intended(intent journal.Intent) {
	step := r.entry.Step
	if i, again := r.ended[step]; again && intent.Attempt > 1 {
		before := r.chart.Spans[i]
		r.waited(Span{Kind: Retry, Step: step, Attempt: intent.Attempt, Began: before.Ended, Ended: r.entry.At,
			Reason: "before attempt " + fmt.Sprint(intent.Attempt)})
	}
	text := "step " + step + " begun"
	if intent.Attempt > 1 {
		text = fmt.Sprintf("step %s begun again, attempt %d", step, intent.Attempt)
	}
	if intent.Irreversible {
		text += " (the point of no return)"
		r.facts.irreversible = append(r.facts.irreversible, r.mention("step %s", step))
	}
	if r.undoing {
		text += ", to undo"
	}
	r.tell(Begun, intent.Attempt == 1 || intent.Irreversible, "%s", text)
	r.open[step] = len(r.chart.Spans)
	r.chart.Spans = append(r.chart.Spans, Span{
		Kind: Attempt, Run: r.run.Run, Step: clean(step, eventRoom), Attempt: intent.Attempt, Began: r.entry.At.UTC(),
		Ended: r.entry.At.UTC(), Irreversible: intent.Irreversible, BudgetSeconds: intent.BudgetSeconds, Source: r.source(),
	})
}

// waited adds a bar that is no attempt, where it is worth one.
func (r *runStory) waited(s Span) {
	if s.Ended.Sub(s.Began) <= 0 {
		return
	}
	s.Run, s.Source, s.Began, s.Ended = r.run.Run, r.source(), s.Began.UTC(), s.Ended.UTC()
	s.Step = clean(s.Step, eventRoom)
	r.chart.Spans = append(r.chart.Spans, s)
}

func (r *runStory) outcome(result journal.Result) {
	step := r.entry.Step
	took := ""
	if i, open := r.open[step]; open {
		delete(r.open, step)
		span := &r.chart.Spans[i]
		span.Ended, span.Result, span.Reason = r.entry.At.UTC(), result.Result, clean(result.Reason, eventRoom)
		r.ended[step] = i
		took = " after " + seconds(*span)
		if span.OverBudget() {
			took += fmt.Sprintf(", over its budget of %s", budget(*span))
		}
	} else if i, ended := r.ended[step]; ended && r.chart.Spans[i].Result == journal.Unknown {
		r.chart.Spans[i].Later = result.Result
	}
	reason := ""
	if result.Reason != "" {
		reason = ": " + result.Reason
	}
	switch result.Result {
	case journal.Done:
		r.poolsGone(step)
		text := "step " + step + " done" + took
		switch {
		case result.Answered:
			text = "an operator said that step " + step + " is done"
		case result.Observed:
			text = "step " + step + " was seen to be done"
		}
		told := r.tell(Done, r.lasts(step), "%s%s", text, reason)
		if told && r.undoing {
			r.facts.undone = append(r.facts.undone, r.mention("step %s%s", step, took))
		}
	case journal.Skipped:
		r.tell(Skipped, false, "step %s skipped%s", step, reason)
	case journal.Unknown:
		r.tell(NotKnown, true, "step %s: not known whether it is done%s%s", step, took, reason)
	default:
		r.tell(Failed, true, "step %s failed%s%s", step, took, reason)
	}
}

// lasts tells whether the end of a step is worth a line beside its beginning.
func (r *runStory) lasts(step string) bool {
	i, ended := r.ended[step]
	return ended && r.chart.Spans[i].Took() >= longStep
}

func seconds(s Span) string { return span(s.Took()) }

func (r *runStory) requested(sent journal.Requests) {
	for _, one := range sent.Made {
		r.deletes(one)
		answer := fmt.Sprintf("%d", one.Status)
		if one.Status == 0 {
			answer = fmt.Sprintf("no answer (%s)", one.Class)
		}
		times := ""
		if one.Count > 1 {
			times = fmt.Sprintf(", %d times", one.Count)
		}
		if !r.tell(Sent, false, "step %s sent %s %s%s: %s", r.entry.Step, one.Method, one.Path, times, answer) {
			continue
		}
		r.chart.Requests = append(r.chart.Requests, Operation{
			At: r.entry.At.UTC(), Run: r.run.Run, Step: clean(r.entry.Step, eventRoom), Attempt: sent.Attempt,
			Method: clean(one.Method, 16), Path: clean(one.Path, eventRoom), Status: one.Status, Class: string(one.Class),
			Count: one.Count, Source: r.source(),
		})
	}
	if sent.More > 0 {
		r.tell(Sent, false, "step %s sent %s that the journal does not list", r.entry.Step,
			report.Count(sent.More, "more request", "more requests"))
	}
}

// endOpen ends the bars of attempts without an outcome at the last entry.
func (r *runStory) endOpen() {
	for _, i := range r.open {
		s := &r.chart.Spans[i]
		s.Ended, s.Open, s.Reason = r.run.Last, true, "what became of it is not in the journal"
	}
	if !r.parked.IsZero() {
		r.chart.Spans = append(r.chart.Spans, Span{Kind: Person, Run: r.run.Run, Began: r.parked.UTC(), Ended: r.run.Last,
			Open: true, Reason: "waits to be resumed", Source: r.source()})
		r.facts.questions = append(r.facts.questions, mention{at: r.run.Last, run: r.run.Run, source: r.source(),
			text: line("Run %s still waits for an operator (%s). What became of it?", r.run.Run, r.run.Reason)})
	}
}

func sortSpans(spans []Span) {
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Source.At, b.Source.At))
	})
}
