package engine_test

import (
	"context"
	"slices"

	"salve/engine"
	"salve/internal/report/replay"
	"salve/journal"
	"salve/runbook"
)

// sight is a finding as a value that is read: a guard of these tests decides what the test has it see.
type sight struct {
	Answer   runbook.Answer
	Reason   string
	Evidence []runbook.Evidence
	Outcome  runbook.Outcome
	Locked   bool
}

func (s sight) finding() runbook.Finding {
	return runbook.Finding{Answer: s.Answer, Reason: s.Reason, Evidence: s.Evidence, Outcome: s.Outcome, Locked: s.Locked}
}

// recorded is a guard whose finding is kept as what it read, so that it can be asked again of the record.
func recorded(guard runbook.Guard) runbook.Guard {
	if guard.Evaluate == nil {
		return guard // it is invalid
	}
	read := func(ctx context.Context, run runbook.Run) (sight, error) {
		seen := guard.Evaluate(ctx, run)
		return sight{seen.Answer, seen.Reason, seen.Evidence, seen.Outcome, seen.Locked}, nil
	}
	kept := runbook.Ask(guard.Name, guard.Question, read, sight.finding)
	kept.OnResume, kept.NotOverridable = guard.OnResume, guard.NotOverridable
	kept.Prepare, kept.PrepareBudget = guard.Prepare, guard.PrepareBudget
	return kept
}

// recordedBook is a runbook whose guards are all recorded.
func recordedBook(book runbook.Runbook) runbook.Runbook {
	all := func(guards []runbook.Guard) []runbook.Guard {
		kept := slices.Clone(guards)
		for i := range kept {
			kept[i] = recorded(kept[i])
		}
		return kept
	}
	steps := func(list []runbook.Step) []runbook.Step {
		kept := slices.Clone(list)
		for i := range kept {
			kept[i].Preconditions = all(kept[i].Preconditions)
			if kept[i].Rollback != nil {
				back := *kept[i].Rollback
				back.Preconditions = all(back.Preconditions)
				kept[i].Rollback = &back
			}
		}
		return kept
	}
	book.Guards, book.Checks = all(book.Guards), all(book.Checks)
	book.Preflight, book.Steps = steps(book.Preflight), steps(book.Steps)
	return book
}

// Run runs a runbook, whose decisions are made again when the test ends.
func (b *bench) Run(ctx context.Context, book runbook.Runbook, options engine.Options) (engine.Result, error) {
	return b.Engine.Run(ctx, b.taken(book), options)
}

// Resume resumes a run in the same way.
func (b *bench) Resume(
	ctx context.Context, book runbook.Runbook, run string, options engine.Options,
) (engine.Result, error) {
	return b.Engine.Resume(ctx, b.taken(book), run, options)
}

func (b *bench) taken(book runbook.Runbook) runbook.Runbook {
	book = recordedBook(book)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.books = append(b.books, book)
	return book
}

// replayed makes every decision of the bench's runs again from the record alone, with one of the runbooks that ran.
func (b *bench) replayed() {
	b.t.Helper()
	ctx := context.WithoutCancel(b.t.Context())
	runs, err := b.kept.Runs(ctx)
	if err != nil {
		b.t.Error(err)
	}
	for _, run := range runs {
		record, err := journal.Load(ctx, b.kept, run)
		if err != nil || len(record.Entries) == 0 {
			continue // what a test spoiled
		}
		for _, book := range slices.Backward(b.books) {
			if err = replay.Verify(record.History, book); err == nil {
				break
			}
		}
		if err != nil {
			b.t.Error(err)
		}
	}
}
