package rollout

import (
	"context"
	"fmt"
	"strings"

	"salve/journal"
	"salve/runbook"
)

// verdict is how the run ends.
func (w *walk) verdict(ctx context.Context) (journal.Verdict, bool, error) {
	if w.complete() {
		return journal.Verdict{Outcome: runbook.RolledOut, Reason: w.standing()}, false, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		verdict := w.interrupted()
		if err := w.append(ctx, journal.Pending{Kind: journal.Interrupted, Data: journal.Message{Text: verdict.Reason}}); err != nil {
			return verdict, true, err
		}
		if question := w.question(); question.Outcome != "" {
			verdict.Question = question.Question
		}
		return verdict, w.record.Changed(), nil
	}
	if question := w.question(); question.Outcome != "" {
		return question, true, nil
	}
	return journal.Verdict{Outcome: runbook.Failed, Reason: w.failed() + "; " + w.standing()}, true, nil
}

// failed says which steps failed, and why the first of them did: that may be why
// the others did.
func (w *walk) failed() string {
	first := w.record.Step(w.name(w.failures[0]))
	reason := fmt.Sprintf("step %s: %s", first.Name, first.Last.Reason)
	var others []string
	for _, i := range w.failures[1:] {
		others = append(others, w.name(i))
	}
	if len(others) > 0 {
		reason += "; " + some(others) + " failed too"
	}
	return reason
}

func (w *walk) complete() bool {
	for i := range w.plan.Steps {
		if !w.record.Step(w.name(i)).Finished() && !w.leftOut(i) {
			return false
		}
	}
	return true
}

func (w *walk) interrupted() journal.Verdict {
	if !w.record.Changed() {
		return journal.Verdict{Outcome: runbook.Failed, Reason: "interrupted before any step began"}
	}
	return journal.Verdict{Outcome: runbook.NeedsAttention, Reason: "interrupted; " + w.standing()}
}

// standing says what did and what did not run.
func (w *walk) standing() string {
	var done, left, cut, not []string
	for i := range w.plan.Steps {
		switch history := w.record.Step(w.name(i)); {
		case history.Finished():
			done = append(done, history.Name)
		case w.leftOut(i):
			left = append(left, history.Name)
		case history.Attempts > 0:
			cut = append(cut, history.Name)
		default:
			not = append(not, w.name(i))
		}
	}
	parts := []string{tally(len(done), len(w.plan.Steps), left)}
	if len(cut) > 0 {
		parts = append(parts, "not done: "+some(cut))
	}
	if len(not) > 0 {
		parts = append(parts, "not begun: "+some(not))
	}
	return strings.Join(parts, "; ")
}

// tally counts what is done, and names what was left out: nobody has done that.
func tally(done, steps int, left []string) string {
	switch {
	case done == steps && steps == 1:
		return "its only step is done"
	case done == steps:
		return fmt.Sprintf("all %d steps are done", steps)
	case len(left) == 0:
		return fmt.Sprintf("%d of %d steps are done", done, steps)
	case len(left) == 1:
		return fmt.Sprintf("%d of %d steps are done, %s was left out", done, steps, left[0])
	}
	return fmt.Sprintf("%d of %d steps are done, %d were left out: %s", done, steps, len(left), some(left))
}

func some(names []string) string {
	const shown = 5
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
