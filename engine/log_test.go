package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// slowDisk takes its time for each write, however many lines it holds.
type slowDisk struct {
	journal.Store
	writes int
}

func (d *slowDisk) Append(ctx context.Context, run string, seq int, line []byte) error {
	return d.AppendLines(ctx, run, seq, [][]byte{line})
}

func (d *slowDisk) AppendLines(ctx context.Context, run string, seq int, lines [][]byte) error {
	d.writes++
	time.Sleep(10 * time.Millisecond)
	for i, line := range lines {
		if err := d.Store.Append(ctx, run, seq+i, line); err != nil {
			return err
		}
	}
	return nil
}

// TestStepsInParallelShareWrites: while one write is under way the others go on until
// they have something to write as well, and that is one write.
func TestStepsInParallelShareWrites(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		const together, rounds = 10, 20
		s.takes = 0
		disk := &slowDisk{Store: b.Journal}
		b.Engine.Journal = disk
		var steps []runbook.Step
		for round := range rounds {
			for n := range together {
				var after []string
				if round > 0 {
					after = []string{fmt.Sprintf("%d-%d", round-1, n)}
				}
				steps = append(steps, s.step(fmt.Sprintf("%d-%d", round, n), after...))
			}
		}
		result, err := b.Run(context.Background(), s.book(together, steps...), engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, result, runbook.RolledOut, "all 200 steps are done")
		// An intent and an outcome a step; ten of each fit into a write, which is
		// rarely full because who comes a moment too late waits for the next one.
		if most := 2 * rounds * 3; disk.writes > most {
			t.Errorf("%d writes for %d entries, want %d at most", disk.writes, 2*together*rounds, most)
		}
	})
}
