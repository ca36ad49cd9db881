package report

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"salve/journal"
)

// Limits of what is read to know how long steps usually take.
const (
	usualRuns    = 10
	usualRecords = 50
)

// Usual gives how long steps usually take: the median over the newest runs of a journal that match, of the steps that
// were done in them. It is for the eye, and never for a decision: what can't be read counts as if it were not there.
func Usual(ctx context.Context, backend journal.Backend, match func(journal.Header) bool) map[string]time.Duration {
	runs, err := backend.Runs(ctx)
	if err != nil {
		return nil
	}
	slices.Reverse(runs)
	took, matched := map[string][]time.Duration{}, 0
	for _, run := range runs[:min(len(runs), usualRecords)] {
		if ctx.Err() != nil || matched == usualRuns {
			break
		}
		record, err := journal.Load(ctx, backend, run)
		if err != nil || len(record.Entries) == 0 || !match(record.Header) {
			continue
		}
		if lasted := stepsOf(record.History); len(lasted) > 0 {
			matched++
			for step, d := range lasted {
				took[step] = append(took[step], d)
			}
		}
	}
	usual := map[string]time.Duration{}
	for step, each := range took {
		slices.Sort(each)
		usual[step] = each[len(each)/2]
	}
	return usual
}

// stepsOf gives how long each step took that a run has done in one go: one that a process left and another one went on
// with says nothing.
func stepsOf(history *journal.History) map[string]time.Duration {
	took, began := map[string]time.Duration{}, map[string]time.Time{}
	for _, entry := range history.Entries {
		switch entry.Kind {
		case journal.Intended:
			if _, before := began[entry.Step]; !before {
				began[entry.Step] = entry.At
			}
		case journal.Resumed:
			clear(began)
		case journal.Outcome:
			var result journal.Result
			at, known := began[entry.Step]
			if known && json.Unmarshal(entry.Data, &result) == nil && result.Result == journal.Done &&
				entry.At.After(at) {
				took[entry.Step] = entry.At.Sub(at)
			}
		default: // says nothing of how long a step takes
		}
	}
	return took
}
