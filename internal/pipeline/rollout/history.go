package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/internal/pipeline"
	"salve/journal"
)

// history is what the journal holds of the service group on the resource groups that
// a plan changes, as far back as it matters.
type history struct {
	// runs are in the order in which they began.
	runs []*journal.Record
}

const (
	// skew is how far the clocks of two runners may be apart: within it the names of
	// runs don't tell which of two began first.
	skew = 24 * time.Hour
	// remembered bounds how many runs are looked at for what steps handed on the last
	// time, which a preview shows.
	remembered = 100
)

// history reads the runs that share a resource group with the plan, newest first, and no
// further back than it takes: to a run that was itself let begin by a look at all that
// was before it. A preview has no run of its own, and looks for what steps handed on. A
// record that can't be read and may be one of them is an error: it may hold the newest
// revision.
func (r *Runner) history(ctx context.Context, plan *Plan, own string) (*history, error) {
	found, ours := &history{}, append([]string{plan.Target().ID}, plan.Inputs.Targets...)
	var settled time.Time
	var broken error
	err := journal.NewestFirst(ctx, r.Journal, func(run *journal.Record) bool {
		if !settled.IsZero() && run.Entries[0].At.Before(settled.Add(-skew)) && !found.lacks(plan, own) {
			return false
		}
		if !concerns(run.History, ours) {
			return true
		}
		found.runs = append(found.runs, run)
		if settled.IsZero() && plan.settledBy(run.History) {
			settled = run.Entries[0].At
		}
		return true
	}, func(_ string, err error) {
		var damage *journal.BrokenError
		if errors.As(err, &damage) && damage.Ours && slices.Contains(ours, damage.Target) {
			broken = errors.Join(broken, err)
		}
	})
	if err = errors.Join(err, broken); err != nil {
		return nil, err
	}
	for _, run := range found.runs {
		if run.MigratedTo != nil {
			return nil, journal.Elsewhere(run.History)
		}
	}
	slices.Reverse(found.runs)
	return found, nil
}

// concerns tells whether a run is of one of the targets, or has one among its own.
func concerns(history *journal.History, targets []string) bool {
	return slices.Contains(targets, history.Header.Target.ID) ||
		slices.ContainsFunc(inputsOf(history).Targets, func(id string) bool { return slices.Contains(targets, id) })
}

// settledBy tells whether what was before a run need not be looked at again: it changed
// all that the plan changes, and it was let do that because no newer revision was there
// before it, nor an open run beside it. A Soak counts from the first run of its
// revision, which may be one before.
func (p *Plan) settledBy(run *journal.History) bool {
	theirs, ours := inputsOf(run), p.Inputs
	soaks := slices.ContainsFunc(p.Steps, func(step *pipeline.Step) bool { return step.Soak != nil })
	return run.Changed() && run.Header.Overrides[revisionOrder] == "" &&
		!slices.ContainsFunc(ours.Targets, func(id string) bool { return !slices.Contains(theirs.Targets, id) }) &&
		!(soaks && ours.Revision != "" && theirs.Revision == ours.Revision)
}

// lacks tells whether the run's own record is still to be read, or, for a preview, a step
// that was done.
func (p *history) lacks(plan *Plan, own string) bool {
	if own != "" {
		return p.record(own) == nil
	}
	return len(p.runs) < remembered && slices.ContainsFunc(plan.Steps, func(step *pipeline.Step) bool {
		return !slices.ContainsFunc(p.runs, func(run *journal.Record) bool {
			_, done := doneAt(run.History, step.ID())
			return done
		})
	})
}

// record is that of a run; nil when it was not read.
func (p *history) record(run string) *journal.Record {
	at := slices.IndexFunc(p.runs, func(record *journal.Record) bool { return record.Run == run })
	if at < 0 {
		return nil
	}
	return p.runs[at]
}

// openBeside names an open run that shares a resource group with a target, and is of
// another set of them; empty when there is none.
func (p *history) openBeside(ours, target string) string {
	for _, record := range p.runs {
		if record.Run != ours && record.Closed == nil && record.Header.Target.ID != target {
			return record.Run
		}
	}
	return ""
}

// changed tells whether a run has begun a step.
func (p *history) changed(run string) bool {
	record := p.record(run)
	return record != nil && record.Changed()
}

// host is where the last attempt at a step was made, as the run's record tells.
func (p *history) host(run, step string) string {
	record := p.record(run)
	if record == nil {
		return ""
	}
	at := record.Header.Holder
	last := at
	for _, entry := range record.Entries {
		if resumption, ok := decode[journal.Resumption](entry, journal.Resumed); ok {
			at = resumption.Holder
		}
		if entry.Kind == journal.Intended && entry.Step == step {
			last = at
		}
	}
	return last.Host
}

// handedOn are the outputs of each step in the newest run in which it was done, and
// the names of those runs. Secrets are not kept, and so not known.
func (p *history) handedOn(plan *Plan) (outputs, map[pipeline.StepID]string, error) {
	all, from := newOutputs(), map[pipeline.StepID]string{}
	for _, run := range slices.Backward(p.runs) {
		for _, step := range plan.Steps {
			if _, done := doneAt(run.History, step.ID()); !done || from[step.ID()] != "" {
				continue
			}
			var made kept
			if _, err := run.Recall(noteOf(step.ID()), &made); err != nil {
				return nil, nil, err
			}
			read, err := made.read()
			if err != nil {
				return nil, nil, fmt.Errorf("run %s: %w", run.Run, err)
			}
			all[step.ID()], from[step.ID()] = read, run.Run
		}
	}
	return all, from, nil
}

// first is when a step was first done, in a run or in any other of its revision.
// Runs without one have nothing in common.
func (p *history) first(ours string, step pipeline.StepID, revision string) (at time.Time, found bool) {
	for _, run := range p.runs {
		if run.Run != ours && (revision == "" || inputsOf(run.History).Revision != revision) {
			continue
		}
		if done, ok := doneAt(run.History, step); ok && (!found || done.Before(at)) {
			at, found = done, true
		}
	}
	return at, found
}

// doneAt is when a step was first done in a run.
func doneAt(history *journal.History, step pipeline.StepID) (time.Time, bool) {
	for _, entry := range history.Entries {
		if entry.Step != step.String() {
			continue
		}
		if result, ok := decode[journal.Result](entry, journal.Outcome); ok && result.Result == journal.Done {
			return entry.At, true
		}
	}
	return time.Time{}, false
}

// decode reads the data of an entry of a kind.
func decode[T any](entry journal.Entry, kind journal.Kind) (data T, ok bool) {
	if entry.Kind != kind {
		return data, false
	}
	err := json.Unmarshal(entry.Data, &data)
	return data, err == nil
}
