package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// beside runs books at the same time, on engines that share places.
func (b *bench) beside(places *engine.Places, books ...runbook.Runbook) []engine.Result {
	b.t.Helper()
	results := make([]engine.Result, len(books))
	var running sync.WaitGroup
	for i, book := range books {
		book.Target.ID, book.Target.Name = fmt.Sprint("site/", i), fmt.Sprint("site ", i)
		machine := &engine.Engine{Journal: b.Journal, Clock: b.Clock, Places: places,
			NewRun: func(time.Time) string { return fmt.Sprint("beside-", i) }}
		book = b.taken(book)
		running.Go(func() {
			result, err := machine.Run(b.t.Context(), book, engine.Options{})
			if err != nil {
				b.t.Error(err)
			}
			results[i] = result
		})
	}
	running.Wait()
	return results
}

// TestRunsShareTheirPlaces: however many each of them would take alone. No place is left empty meanwhile, and a step
// that waits for one is not announced.
func TestRunsShareTheirPlaces(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		var books []runbook.Runbook
		for i := range 3 {
			var steps []runbook.Step
			for j := range 4 {
				steps = append(steps, s.step(fmt.Sprintf("wall-%d-%d", i, j)))
			}
			books = append(books, s.book(4, steps...))
		}
		began, announced := time.Now(), map[time.Duration]int{}
		for i, result := range b.beside(engine.NewPlaces(2), books...) {
			expect(t, result, runbook.RolledOut, "all 4 steps are done")
			for _, entry := range b.record(fmt.Sprint("beside-", i)).Entries {
				if entry.Kind == journal.Intended {
					announced[entry.At.Sub(began)]++
				}
			}
		}
		if took := time.Since(began); s.mostBusy != 2 || took != 6*time.Second {
			t.Errorf("%d steps at once, in %s", s.mostBusy, took)
		}
		for after, count := range announced {
			if count != 2 {
				t.Errorf("%d steps were announced after %s, and there are two places", count, after)
			}
		}
	})
}

// TestAFailedRunGivesItsPlacesBack to the others.
func TestAFailedRunGivesItsPlacesBack(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["wall"] = []error{errStuck}
		results := b.beside(engine.NewPlaces(1), s.book(1, s.step("wall"), s.step("never", "wall")),
			s.book(1, s.step("floor"), s.step("roof", "floor")))
		expect(t, results[0], runbook.Failed, "stuck")
		expect(t, results[1], runbook.RolledOut, "all 2 steps are done")
	})
}

// TestWaitingForAPlaceCanBeInterrupted: nothing was begun, and nothing is left waiting.
func TestWaitingForAPlaceCanBeInterrupted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		b.Places = engine.NewPlaces(1)
		s.takes = time.Hour
		var running sync.WaitGroup
		running.Go(func() { b.beside(b.Places, s.book(1, s.step("wall"))) })
		time.Sleep(time.Second) // the long one has the only place
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			time.AfterFunc(time.Minute, interrupt)
			return s.book(1, s.step("roof"))
		})
		expect(t, result, runbook.Failed, "interrupted before anything was changed")
		running.Wait()
	})
}
