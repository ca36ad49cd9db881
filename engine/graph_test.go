package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/runbook"
)

// site is a world of steps that only say that they were done, some time later.
type site struct {
	mu       sync.Mutex
	done     map[string]int
	order    []string
	asked    []string // the steps that were observed
	busy     int
	mostBusy int
	// takes is how long each step is at work, half of it when it fails; fails are the errors of its attempts.
	takes time.Duration
	fails map[string][]error
}

func newSite() *site {
	return &site{done: map[string]int{}, fails: map[string][]error{}, takes: time.Second}
}

func (s *site) step(name string, after ...string) runbook.Step {
	return runbook.Step{
		Name: name, After: append([]string{runbook.Start}, after...),
		Observe: func(context.Context, runbook.Run) runbook.Observation {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked = append(s.asked, name)
			if s.done[name] > 0 {
				return runbook.Done("it stands")
			}
			return runbook.NotStarted("not yet")
		},
		Apply: func(ctx context.Context, _ runbook.Run) error { return s.build(ctx, name) },
	}
}

func (s *site) build(ctx context.Context, name string) error {
	s.mu.Lock()
	s.order = append(s.order, name)
	s.busy++
	s.mostBusy = max(s.mostBusy, s.busy)
	takes := s.takes
	if len(s.fails[name]) > 0 && s.fails[name][0] != nil {
		takes /= 2
	}
	s.mu.Unlock()
	slept := clock.Sleep(ctx, clock.Real{}, takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if slept != nil {
		return slept
	}
	if errs := s.fails[name]; len(errs) > 0 {
		s.fails[name] = errs[1:]
		if errs[0] != nil {
			return errs[0]
		}
	}
	s.done[name]++
	return nil
}

func (s *site) book(parallel int, steps ...runbook.Step) runbook.Runbook {
	return runbook.Runbook{
		Name: "build", Version: "1", Budget: 24 * time.Hour, Target: runbook.Target{ID: "site/1", Name: "site 1"},
		Parallel: parallel, KeepOpen: true, Steps: steps, Success: runbook.RolledOut,
		Checks: []runbook.Guard{{Name: "stands", Evaluate: func(_ context.Context, run runbook.Run) runbook.Finding {
			for _, step := range steps {
				if step.Skip == "" && !run.Step(step.Name).Done {
					return runbook.No("%s does not stand", step.Name)
				}
			}
			return runbook.Yes("all stands")
		}}},
	}
}

// inVirtualTime runs a test with a bench whose clock nobody waits for.
func inVirtualTime(t *testing.T, test func(t *testing.T, b *bench, s *site)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newBench(t), newSite()) })
}

func TestStepsBeginWhenTheirPredecessorsAreDone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		began := time.Now()
		result := b.run(s.book(2, s.step("roof", "walls", "beams"), s.step("walls", "floor"), s.step("floor"),
			s.step("beams")))
		expect(t, result, runbook.RolledOut, "all 4 steps are done")
		if slices.Index(s.order, "floor") > slices.Index(s.order, "walls") || s.order[3] != "roof" {
			t.Errorf("built in the order %v", s.order)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %s: walls and beams can be built side by side", took)
		}
	})
}

func TestTheLongestChainBeginsFirst(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		b.run(s.book(1, s.step("shed"), s.step("floor"), s.step("walls", "floor"), s.step("roof", "walls")))
		if want := []string{"floor", "walls", "shed", "roof"}; !slices.Equal(s.order, want) {
			t.Errorf("built in the order %v, want %v", s.order, want)
		}
	})
}

func TestNoMoreStepsAreAtWorkThanTheRunbookAllows(t *testing.T) {
	for _, parallel := range []int{0, 1, 3} {
		inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
			var steps []runbook.Step
			for i := range 10 {
				steps = append(steps, s.step(fmt.Sprint("wall-", i)))
			}
			idle := s.step("paint-dries")
			idle.Idle, idle.Apply = true, func(ctx context.Context, _ runbook.Run) error {
				return clock.Sleep(ctx, clock.Real{}, time.Hour)
			}
			expect(t, b.run(s.book(parallel, append(steps, idle)...)), runbook.RolledOut, "all 11 steps are done")
			if s.mostBusy != max(1, parallel) {
				t.Errorf("parallel %d: %d at work at a time", parallel, s.mostBusy)
			}
		})
	}
}

func TestFailureStopsWhatHasNotBegunAndResumeDoesTheRest(t *testing.T) {
	broken := apierr.New(apierr.Terminal, "the crane broke")
	for name, row := range map[string]struct {
		keepGoing bool
		first     []string
	}{
		"by default nothing begins after a failure": {first: []string{"floor", "shed"}},
		"kept going, what does not depend on the failed step begins": {keepGoing: true,
			first: []string{"fence", "floor", "shed"}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				s.fails["floor"] = []error{broken}
				book := s.book(2, s.step("floor"), s.step("walls", "floor"), s.step("shed"), s.step("fence", "shed"))
				book.KeepGoing = row.keepGoing
				result := b.run(book)
				expect(t, result, runbook.Failed, "the crane broke")
				slices.Sort(s.order)
				if !result.Open || !slices.Equal(s.order, row.first) {
					t.Errorf("open: %v, built %v, want %v", result.Open, s.order, row.first)
				}
				expect(t, b.run(book), runbook.RolledOut, "all 4 steps are done")
				if s.done["shed"] != 1 || s.done["walls"] != 1 {
					t.Errorf("built %v", s.done)
				}
			})
		})
	}
}

func TestRetriesAreBoundedAndOnlyForTheFailuresTheyName(t *testing.T) {
	rain, quake := apierr.New(apierr.Terminal, "rain"), apierr.New(apierr.Terminal, "quake")
	isRain := func(err error) bool { return errors.Is(err, rain) }
	for name, row := range map[string]struct {
		fails []error
		ends  runbook.Outcome
		tries int
	}{
		"a failure that is named is retried":    {fails: []error{rain, rain}, ends: runbook.RolledOut, tries: 3},
		"no more often than allowed":            {fails: []error{rain, rain, rain, rain}, ends: runbook.Failed, tries: 3},
		"a failure that is not named ends it":   {fails: []error{quake}, ends: runbook.Failed, tries: 1},
		"also after one that was":               {fails: []error{rain, quake}, ends: runbook.Failed, tries: 2},
		"without a failure nothing is repeated": {ends: runbook.RolledOut, tries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				s.fails["roof"] = row.fails
				roof := s.step("roof")
				roof.Retries = &runbook.Retries{Count: 2, Between: time.Hour, When: isRain}
				began := time.Now()
				expect(t, b.run(s.book(1, roof)), row.ends, "")
				if len(s.order) != row.tries {
					t.Errorf("%d attempts, want %d", len(s.order), row.tries)
				}
				if took, paused := time.Since(began), time.Duration(row.tries-1)*time.Hour; took.Truncate(time.Hour) != paused {
					t.Errorf("took %s, want pauses of %s", took, paused)
				}
			})
		})
	}
}

func TestStepThatWaitsForItsRetryTakesNoPlace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		rain := apierr.New(apierr.Terminal, "rain")
		s.fails["roof"] = []error{rain}
		roof := s.step("roof")
		roof.Retries = &runbook.Retries{Count: 1, Between: time.Hour, When: func(error) bool { return true }}
		began := time.Now()
		expect(t, b.run(s.book(1, roof, s.step("fence"), s.step("shed"))), runbook.RolledOut, "")
		if took := time.Since(began); took != time.Hour+time.Second+time.Second/2 {
			t.Errorf("took %s: the others are built while the roof waits", took)
		}
	})
}

func TestSkippedStepNeverCountsAsDone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"] = []error{apierr.New(apierr.Terminal, "rain")}
		walls := s.step("walls")
		walls.Skip = "skipped by --skip"
		expect(t, b.run(s.book(1, walls, s.step("roof", "walls"))), runbook.Failed,
			"0 of 2 steps are done, walls was skipped")
		if !b.record("run-1").Step("walls").Skipped() || b.record("run-1").Step("walls").Finished() {
			t.Errorf("the journal holds %+v", b.record("run-1").Step("walls"))
		}
		expect(t, b.run(s.book(1, s.step("walls"), s.step("roof", "walls"))), runbook.RolledOut, "all 2 steps are done")
		if s.done["walls"] != 1 {
			t.Error("resumed without the flag, the step is still missing")
		}
	})
}

func TestStaleStepIsDoneAgainOnResume(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"] = []error{apierr.New(apierr.Terminal, "rain")}
		key := s.step("cut-key")
		key.Observe = func(context.Context,
			runbook.Run) runbook.Observation {
			return runbook.NotStarted("keys are not kept")
		}
		key.Stale = func(run runbook.Run) (bool, error) { return !run.Step("roof").Done, nil }
		book := s.book(1, key, s.step("roof", "cut-key"))
		expect(t, b.run(book), runbook.Failed, "rain")
		expect(t, b.run(book), runbook.RolledOut, "all 2 steps are done")
		if s.done["cut-key"] != 2 {
			t.Errorf("the key was cut %d times", s.done["cut-key"])
		}
	})
}

func TestResumeTokenBelongsToItsStep(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		var steps []runbook.Step
		for _, name := range []string{"east", "west"} {
			step := s.step(name)
			step.Apply = func(ctx context.Context, run runbook.Run) error { return run.Note(ctx, runbook.OperationNote, name) }
			step.Await = func(ctx context.Context, run runbook.Run) error {
				if err := clock.Sleep(ctx, clock.Real{}, time.Second); err != nil {
					return err
				}
				var token string
				if found, err := run.Recall(runbook.OperationNote, &token); !found || err != nil || token != name {
					return apierr.New(apierr.Terminal, "the token of %s is %q", name, token)
				}
				return nil
			}
			steps = append(steps, step)
		}
		expect(t, b.run(s.book(2, steps...)), runbook.RolledOut, "all 2 steps are done")
	})
}
