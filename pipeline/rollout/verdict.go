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
		return journal.Verdict{Outcome: runbook.RolledOut, Reason: all(len(w.plan.Steps))}, false, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		verdict := w.interrupted()
		if err := w.append(ctx, journal.Draft{Kind: journal.Interrupted, Data: journal.Message{Text: verdict.Reason}}); err != nil {
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
	last := w.record.Step(w.name(w.failures[0]))
	reason := fmt.Sprintf("step %s: %s; %s", last.Name, last.Last.Reason, w.standing())
	return journal.Verdict{Outcome: runbook.Failed, Reason: reason}, true, nil
}

func all(steps int) string {
	if steps == 1 {
		return "its only step is done"
	}
	return fmt.Sprintf("all %d steps are done", steps)
}

func (w *walk) complete() bool {
	for i := range w.plan.Steps {
		if !w.record.Step(w.name(i)).Finished() {
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
	var done, cut, not []string
	for i := range w.plan.Steps {
		switch history := w.record.Step(w.name(i)); {
		case history.Finished():
			done = append(done, history.Name)
		case history.Attempts > 0:
			cut = append(cut, history.Name)
		default:
			not = append(not, w.name(i))
		}
	}
	parts := []string{fmt.Sprintf("%d of %d steps are done", len(done), len(w.plan.Steps))}
	if len(cut) > 0 {
		parts = append(parts, "not done: "+some(cut))
	}
	if len(not) > 0 {
		parts = append(parts, "not begun: "+some(not))
	}
	return strings.Join(parts, "; ")
}

func some(names []string) string {
	const shown = 5
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
