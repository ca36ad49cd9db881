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

// past is what the journal holds of the service group on the resource groups that
// a plan changes.
type past struct {
	runs []*journal.Record
}

// past reads the runs that share a resource group with the plan. A record that
// can't be read and may be one of them is an error: it may hold the newest
// revision.
func (r *Runner) past(ctx context.Context, plan *Plan) (*past, error) {
	found, ours := &past{}, append([]string{plan.Target().ID}, plan.Inputs.Targets...)
	var broken error
	runs, err := journal.Find(ctx, r.Journal, func(history *journal.History) bool {
		if slices.Contains(ours, history.Header.Target.ID) {
			return true
		}
		return slices.ContainsFunc(inputsOf(history).Targets, func(id string) bool { return slices.Contains(ours, id) })
	}, func(_ string, err error) {
		var damage *journal.BrokenError
		if errors.As(err, &damage) && damage.Ours && slices.Contains(ours, damage.Target) {
			broken = errors.Join(broken, err)
		}
	})
	if err = errors.Join(err, broken); err != nil {
		return nil, err
	}
	for _, run := range runs {
		if run.MigratedTo != nil {
			return nil, journal.Elsewhere(run.History)
		}
	}
	found.runs = runs
	return found, nil
}

// openBeside names an open run that shares a resource group with a target, and is of
// another set of them; empty when there is none.
func (p *past) openBeside(ours, target string) string {
	for _, record := range p.runs {
		if record.Run != ours && record.Closed == nil && record.Header.Target.ID != target {
			return record.Run
		}
	}
	return ""
}

// changed tells whether a run has begun a step.
func (p *past) changed(run string) bool {
	for _, record := range p.runs {
		if record.Run == run {
			return record.Changed()
		}
	}
	return false
}

// host is where the last attempt at a step was made, as the run's record tells.
func (p *past) host(run, step string) string {
	for _, record := range p.runs {
		if record.Run != run {
			continue
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
	return ""
}

// handedOn are the outputs of each step in the newest run in which it was done, and
// the names of those runs. Secrets are not kept, and so not known.
func (p *past) handedOn(plan *Plan) (outputs, map[pipeline.StepID]string, error) {
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
func (p *past) first(ours string, step pipeline.StepID, revision string) (at time.Time, found bool) {
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
