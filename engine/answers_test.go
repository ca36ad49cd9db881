package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// letters is a runbook whose step can't be observed once it was attempted: the world
// does not tell whether a letter has arrived.
func (s *site) letters(parallel int, names ...string) runbook.Runbook {
	var steps []runbook.Step
	for _, name := range names {
		step := s.step(name)
		step.Observe = func(_ context.Context, run runbook.Run) runbook.Observation {
			if run.Step(name).Attempts > 0 {
				return runbook.Undecidable("Did "+name+" arrive?", "nobody knows of %s", name)
			}
			return runbook.NotStarted("not sent")
		}
		s.fails[name] = []error{errors.New("the post office burnt down")}
		steps = append(steps, step)
	}
	return s.book(parallel, steps...)
}

func TestQuestionAboutAStepIsAnsweredOnce(t *testing.T) {
	for answer, row := range map[engine.Answer]struct {
		attempts int
		ends     string
	}{
		engine.AnswerDone:  {attempts: 1, ends: "outcome letter done observed answered"},
		engine.AnswerAgain: {attempts: 2, ends: "outcome letter done"},
	} {
		t.Run(string(answer), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				b.Holder = journal.Holder{User: "ada", Host: "north"}
				book := s.letters(0, "letter")
				result := b.run(book)
				expect(t, result, runbook.NeedsAttention, "nobody knows of letter")
				if result.Question != "Did letter arrive?" {
					t.Errorf("asked %q", result.Question)
				}
				result, err := b.Run(t.Context(), book, engine.Options{Answers: map[string]engine.Answer{"letter": answer}})
				if err != nil || result.Outcome != runbook.RolledOut || len(s.order) != row.attempts {
					t.Errorf("answered %s: %+v, %v, %d attempts", answer, result, err, len(s.order))
				}
				story := b.story()
				if got := story[len(story)-3]; got != row.ends {
					t.Errorf("the last outcome is %q, want %q", got, row.ends)
				}
				if said := b.result("letter", 1).Reason; said != map[engine.Answer]string{
					engine.AnswerDone:  "ada@north says that it is done",
					engine.AnswerAgain: "ada@north says that it is to be attempted again",
				}[answer] {
					t.Errorf("the journal says %q", said)
				}
			})
		})
	}
}

// TestAttemptAfterAnAnswerIsAskedAboutAnew: an answer is about one attempt.
func TestAttemptAfterAnAnswerIsAskedAboutAnew(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := s.letters(0, "letter")
		b.run(book)
		s.fails["letter"] = []error{errors.New("the coach broke down")}
		result, err := b.Run(t.Context(), book,
			engine.Options{Answers: map[string]engine.Answer{"letter": engine.AnswerAgain}})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, result, runbook.NeedsAttention, "nobody knows of letter")
		if len(s.order) != 2 || result.Question == "" {
			t.Errorf("%d attempts, asked %q", len(s.order), result.Question)
		}
	})
}

func TestAnswerThatNobodyAskedForIsRefused(t *testing.T) {
	refused := errors.New("its outputs are not known")
	for name, row := range map[string]struct {
		answers map[string]engine.Answer
		check   func(*journal.History, string, engine.Answer) error
		want    string
	}{
		"about another step": {answers: map[string]engine.Answer{"other": engine.AnswerDone},
			want: `no question is open about step "other"`},
		"no answer": {answers: map[string]engine.Answer{"letter": "perhaps"},
			want: "answer letter=perhaps: want done or again"},
		"one that can't be taken": {answers: map[string]engine.Answer{"letter": engine.AnswerDone},
			check: func(open *journal.History, step string, answer engine.Answer) error {
				if open.Header.Run == "run-1" && step == "letter" && answer == engine.AnswerDone {
					return refused
				}
				return nil
			}, want: refused.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				book := s.letters(0, "letter")
				b.run(book)
				before := b.story()
				_, err := b.Run(t.Context(), book, engine.Options{Answers: row.answers, CheckAnswer: row.check})
				if err == nil || err.Error() != row.want {
					t.Errorf("got %v, want %s", err, row.want)
				}
				b.expectStory(before...)
			})
		})
	}
}

func TestAnswerThatMayBeTakenIs(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := s.letters(0, "letter")
		b.run(book)
		result, err := b.Run(t.Context(), book, engine.Options{
			Answers:     map[string]engine.Answer{"letter": engine.AnswerDone},
			CheckAnswer: func(*journal.History, string, engine.Answer) error { return nil },
		})
		if err != nil || result.Outcome != runbook.RolledOut {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

func TestAnswersAreForRunsThatAreResumed(t *testing.T) {
	b := newBench(t)
	var invalid *engine.InvalidError
	answers := map[string]engine.Answer{"hang-sign": engine.AnswerDone}
	_, err := b.Run(t.Context(), b.book(), engine.Options{Answers: answers})
	if !errors.As(err, &invalid) {
		t.Errorf("got %v", err)
	}
	if runs, err := b.Journal.Runs(t.Context()); err != nil || len(runs)+len(b.calls) > 0 {
		t.Errorf("runs %v, changes %v, %v", runs, b.calls, err)
	}
}

// TestAnswerAboutARollbackIsTaken: also a rollback can ask, and goes on where it was.
func TestAnswerAboutARollbackIsTaken(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, _ *site) {
		book := b.book()
		back := book.Steps[0].Rollback
		back.Observe = func(_ context.Context, run runbook.Run) runbook.Observation {
			if run.Step("take-sign-in").Attempts > 0 {
				return runbook.Undecidable("Is the sign in?", "it is dark")
			}
			return runbook.NotStarted("it hangs")
		}
		b.faults["switch-off"] = []error{errStuck}
		b.faults["take-sign-in"] = []error{errors.New("the ladder fell")}
		expect(t, b.run(book), runbook.NeedsAttention, "it is dark")
		result, err := b.Run(t.Context(), book,
			engine.Options{Answers: map[string]engine.Answer{"take-sign-in": engine.AnswerDone}})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, result, runbook.Failed, "stuck")
		if result.Open || len(b.calls) != 3 {
			t.Errorf("open %v, changes %v", result.Open, b.calls)
		}
	})
}

// TestAllQuestionsAreAskedBeforeAnythingIsDone: where several steps may have been cut
// off, also the steps that could be done meanwhile wait for the answers.
func TestAllQuestionsAreAskedBeforeAnythingIsDone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := s.letters(2, "letter", "parcel")
		book.Steps = append(book.Steps, s.step("walk", "letter"), s.step("sleep"))
		expect(t, b.run(book), runbook.NeedsAttention, "nobody knows of letter")
		was := len(s.order)
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "step letter: nobody knows of letter; step parcel: nobody knows of parcel")
		if want := "Did letter arrive? Did parcel arrive?"; result.Question != want || len(s.order) != was {
			t.Errorf("asked %q, did %v", result.Question, s.order[was:])
		}
		result, err := b.Run(t.Context(), book, engine.Options{Answers: map[string]engine.Answer{
			"letter": engine.AnswerDone, "parcel": engine.AnswerDone,
		}})
		if err != nil || result.Outcome != runbook.RolledOut || s.done["walk"] != 1 || s.done["sleep"] != 1 {
			t.Errorf("answered: %+v, %v, done %v", result, err, s.done)
		}
	})
}

func TestUndecidableParksWithTheQuestion(t *testing.T) {
	b := newBench(t)
	b.faults["hang-sign"] = []error{errLost}
	book := b.book()
	observe := book.Steps[0].Observe
	book.Steps[0].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
		if b.sign {
			return runbook.Undecidable("Does the sign hang?", "dusk")
		}
		return observe(ctx, run)
	}
	synctest.Test(t, func(t *testing.T) {
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "dusk")
		if result.Question != "Does the sign hang?" {
			t.Errorf("asked %q", result.Question)
		}
	})
}
