package engine

import (
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

// entries are the answers as the journal keeps them.
func (o Options) entries(history *journal.History, who journal.Holder) []journal.Pending {
	var entries []journal.Pending
	for _, name := range slices.Sorted(maps.Keys(o.Answers)) {
		result := journal.Result{Attempt: history.Step(name).Attempts, Observed: true, Answered: true}
		switch o.Answers[name] {
		case AnswerDone:
			result.Result, result.Reason = journal.Done, fmt.Sprintf("%s@%s says that it is done", who.User, who.Host)
		case AnswerAgain:
			result.Result, result.Reason = journal.Failure, fmt.Sprintf("%s@%s says that it is to be attempted again",
				who.User, who.Host)
		}
		entries = append(entries, journal.Pending{Kind: journal.Outcome, Step: name, Data: result})
	}
	return entries
}

// answeredRetry tells whether an operator said that a step is to be attempted again, of
// which the world does not tell whether it happened.
func answeredRetry(history journal.StepHistory) bool {
	return !history.Open && history.Last.Answered && history.Last.Result == journal.Failure
}
