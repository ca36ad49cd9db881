package runbook_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"salve/runbook"
)

// round is a run of which nothing but the round is asked.
type round struct {
	runbook.Run
	number int
}

func (r round) Round() int { return r.number }

// TestARoundSharesOneReading, which is taken anew in the next one, after a failure,
// and when it was forgotten.
func TestARoundSharesOneReading(t *testing.T) {
	readings, fault := 0, error(nil)
	read := func(context.Context) (int, error) { readings++; return readings, fault }
	var shared runbook.Shared[int]
	for _, row := range []struct {
		round  int
		fault  error
		forget bool
		want   int
	}{
		{round: 1, want: 1},
		{round: 1, want: 1},
		{round: 2, fault: errors.New("not now")},
		{round: 2, want: 3},
		{round: 2, want: 3},
		{round: 2, forget: true, want: 4},
	} {
		fault = row.fault
		if row.forget {
			shared.Reset()
		}
		got, err := shared.Get(t.Context(), round{number: row.round}, read)
		if got != row.want || !errors.Is(err, row.fault) {
			t.Errorf("round %d: %d, %v, want %d", row.round, got, err, row.want)
		}
	}
	if shared.Last() != 4 {
		t.Errorf("the last one was %d", shared.Last())
	}
}

// moving is a run whose round goes on while something reads.
type moving struct {
	runbook.Run
	number atomic.Int64
}

func (r *moving) Round() int { return int(r.number.Load()) }

// TestReadingOfAnEarlierRoundIsNotThisRounds: code that the engine left behind may still read while the next round has
// begun; what it saw must not pass for new. The same holds of a reading that a change has made old.
func TestReadingOfAnEarlierRoundIsNotThisRounds(t *testing.T) {
	for name, meanwhile := range map[string]func(run *moving, shared *runbook.Shared[string]){
		"the next round began": func(run *moving, _ *runbook.Shared[string]) { run.number.Add(1) },
		"the next round read": func(run *moving, shared *runbook.Shared[string]) {
			run.number.Add(1)
			_, _ = shared.Get(t.Context(), run, func(context.Context) (string, error) { return "new", nil })
		},
		"the world was changed": func(_ *moving, shared *runbook.Shared[string]) { shared.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			var shared runbook.Shared[string]
			run := &moving{}
			run.number.Store(1)
			_, err := shared.Get(t.Context(), run, func(context.Context) (string, error) {
				meanwhile(run, &shared)
				return "old", nil
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := shared.Get(t.Context(), run, func(context.Context) (string, error) { return "new", nil })
			if got != "new" || err != nil {
				t.Errorf("the next one read %q, %v", got, err)
			}
		})
	}
}

// TestLastReadingIsNeverThatOfAnEarlierRound: a step acts on what its own round has seen, although code that was left
// behind ends its reading later.
func TestLastReadingIsNeverThatOfAnEarlierRound(t *testing.T) {
	var shared runbook.Shared[string]
	run := &moving{}
	run.number.Store(1)
	_, err := shared.Get(t.Context(), run, func(context.Context) (string, error) {
		run.number.Add(1)
		_, err := shared.Get(t.Context(), run, func(context.Context) (string, error) { return "new", nil })
		return "old", err
	})
	if last := shared.Last(); last != "new" || err != nil {
		t.Errorf("the last reading is %q, %v", last, err)
	}
}

// TestRoundsAreCountedFromOne: a run that has none yet shares nothing.
func TestRoundsAreCountedFromOne(t *testing.T) {
	var shared runbook.Shared[string]
	got, err := shared.Get(t.Context(), round{}, func(context.Context) (string, error) { return "read", nil })
	if got != "read" || err != nil {
		t.Errorf("%q, %v: nothing was read", got, err)
	}
}

// TestParallelStepsShareAReading under the race detector.
func TestParallelStepsShareAReading(t *testing.T) {
	var shared runbook.Shared[int]
	var steps sync.WaitGroup
	for n := range 8 {
		steps.Go(func() {
			if got, err := shared.Get(t.Context(), round{number: 1 + n%2}, func(context.Context) (int, error) {
				return 7, nil
			}); got != 7 || err != nil {
				t.Errorf("%d, %v", got, err)
			}
			_ = shared.Last()
			shared.Reset()
		})
	}
	steps.Wait()
}

// TestWhatCannotBeSeenIsUnknown: neither looking nor judging may fail to an answer.
func TestWhatCannotBeSeenIsUnknown(t *testing.T) {
	blind := errors.New("403")
	for name, row := range map[string]struct {
		read, decide error
		want         runbook.Answer
	}{
		"seen and decided":  {want: runbook.AnswerHolds},
		"not seen":          {read: blind, want: runbook.AnswerUnknown},
		"seen, not decided": {decide: blind, want: runbook.AnswerUnknown},
	} {
		guard := runbook.Ask("lamp", "does it glow?", func(context.Context, runbook.Run) (bool, error) {
			return true,
				row.read
		},
			func(bool) runbook.Finding {
				if row.decide != nil {
					return runbook.Unknown(row.decide)
				}
				return runbook.Yes("it glows")
			})
		if found := guard.Evaluate(t.Context(), round{number: 1}); found.Answer != row.want ||
			row.want == runbook.AnswerUnknown && found.Reason != "403" {
			t.Errorf("%s: %s: %s", name, found.Answer, found.Reason)
		}
	}
}

// TestHalvesOfAStep: what can't be read is neither observed nor changed, and a contradiction is a question.
func TestHalvesOfAStep(t *testing.T) {
	blind := errors.New("403")
	wrong := fmt.Errorf("reading: %w", &runbook.Contradiction{Reason: "another lamp", Question: "Whose lamp is it?"})
	for name, row := range map[string]struct {
		read   error
		want   runbook.Observation
		answer runbook.Answer
	}{
		"seen":          {nil, runbook.Done("it glows"), runbook.AnswerHolds},
		"not seen":      {blind, runbook.NotObserved(blind), runbook.AnswerUnknown},
		"contradiction": {wrong, runbook.Undecidable("Whose lamp is it?", "another lamp"), runbook.AnswerDoesNotHold},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(context.Context, runbook.Run) (int, error) { return 7, row.read }
			observe := runbook.Observe(read, func(int) runbook.Observation { return runbook.Done("it glows") })
			if got := observe(t.Context(), round{number: 1}); got != row.want {
				t.Errorf("observed %+v, want %+v", got, row.want)
			}
			acted := 0
			act := runbook.Act(read, func(_ context.Context, _ runbook.Run, seen int) error { acted = seen; return nil })
			if err := act(t.Context(), round{number: 1}); !errors.Is(err, row.read) || (acted == 7) != (row.read == nil) {
				t.Errorf("acted on %d, %v", acted, err)
			}
			guard := runbook.Ask("lamp", "does it glow?", read, func(int) runbook.Finding { return runbook.Yes("it glows") })
			found := guard.Evaluate(t.Context(), round{number: 1})
			needsAttention := found.Outcome == runbook.NeedsAttention && found.Locked
			if found.Answer != row.answer || needsAttention != (name == "contradiction") {
				t.Errorf("found %+v", found)
			}
		})
	}
}
