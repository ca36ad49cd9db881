package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"salve/journal"
)

// Answer is what an operator says became of a step that can't be observed.
type Answer string

const (
	// AnswerDone means: the step did what it is there for.
	AnswerDone Answer = "done"
	// AnswerAgain means: it is to be attempted again.
	AnswerAgain Answer = "again"
)

// checkAnswers refuses answers that nobody asked for, before anything is written.
func (o Options) checkAnswers(history *journal.History) error {
	for _, name := range slices.Sorted(maps.Keys(o.Answers)) {
		switch answer := o.Answers[name]; {
		case answer != AnswerDone && answer != AnswerAgain:
			return &InvalidError{fmt.Sprintf("answer %s=%s: want %s or %s", name, answer, AnswerDone, AnswerAgain)}
		case !history.Step(name).Unsettled():
			return &InvalidError{fmt.Sprintf("no question is open about step %q", name)}
		case o.CheckAnswer != nil:
			if err := o.CheckAnswer(history, name, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeAnswers journals what an operator says became of steps.
func (x *execution) takeAnswers(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(x.options.Answers)) {
		history := x.log.step(name)
		if !history.Unsettled() {
			continue
		}
		who := x.engine.Holder
		result := journal.Result{Attempt: history.Attempts, Observed: true}
		switch x.options.Answers[name] {
		case AnswerDone:
			result.Result, result.Reason = journal.Done, fmt.Sprintf("%s@%s says that it is done", who.User, who.Host)
		case AnswerAgain:
			result.Result, result.Reason = journal.Failure, fmt.Sprintf("%s@%s says that it is to be attempted again",
				who.User, who.Host)
		}
		if err := x.append(ctx, journal.Outcome, name, result); err != nil {
			return err
		}
	}
	return nil
}
