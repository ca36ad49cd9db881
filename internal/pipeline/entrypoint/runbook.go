package entrypoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/runbook"
)

const (
	// budget bounds a rollout of several pipelines, each of which may last for days.
	budget = 60 * 24 * time.Hour
	// lingers is how long the run of a pipeline may take to end when it is told to, beyond what its steps may take.
	lingers = 2 * time.Minute
)

// work is what the service groups of one run share in this process. What has to last is in the journal.
type work struct {
	runner  *Runner
	plan    *Plan
	options Options
	// places bound the steps of all pipelines together.
	places *engine.Places
}

// book makes the runbook of a plan: the rollout of each service group is one of its steps.
func (r *Runner) book(plan *Plan, options Options) runbook.Runbook {
	w := &work{runner: r, plan: plan, options: options, places: engine.NewPlaces(plan.Inputs.Concurrency)}
	book := runbook.Runbook{
		Name: Name, Version: version, Target: plan.Target(), Inputs: plan.Inputs, Budget: budget,
		Parallel: max(1, plan.Inputs.Concurrency), KeepGoing: !plan.Inputs.FailFast, KeepOpen: true,
		Success: runbook.RolledOut,
		Guards:  []runbook.Guard{w.ready()}, Checks: []runbook.Guard{w.allDone()},
	}
	for _, group := range plan.Groups {
		book.Steps = append(book.Steps, w.step(group))
	}
	return book
}

func (w *work) step(group Group) runbook.Step {
	return runbook.Step{
		Name: group.Name, Changes: "rolls out its pipeline", After: append([]string{runbook.Start}, group.After...),
		Inputs: func(runbook.Run) (any, error) {
			ordered := order{Pipeline: group.Plan.Inputs.Pipeline, Digest: group.Plan.Inputs.Digest,
				Revision: group.Plan.Inputs.Revision}
			if w.runner.Detailed {
				ordered.Content = group.Plan.Content
				ordered.Steps = w.runner.Pipeline(group).Outline(group.Plan)
			}
			return ordered, nil
		},
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation { return w.observe(ctx, run, group) },
		Apply:   func(ctx context.Context, run runbook.Run) error { return w.apply(ctx, run, group) },
		Grace:   w.plan.Inputs.Grace + lingers,
	}
}

// order is what a service group is rolled out with.
type order struct {
	Pipeline string `json:"pipeline"`
	Digest   string `json:"digest"`
	Revision string `json:"revision,omitempty"`
	// Content and Steps are what somebody agrees to: the whole SHA-256 of the content, and its steps by their names.
	Content string                     `json:"content,omitempty"`
	Steps   map[string]rollout.Outline `json:"steps,omitempty"`
}

// readiness is how a service group's rollout would begin.
type readiness struct {
	ServiceGroup string `json:"serviceGroup"`
	// Run is the open run that it would resume; empty where it would begin a new one.
	Run string `json:"run"`
	// Refused is why it could do neither; empty when it can.
	Refused string `json:"refused"`
}

// ready is asked before the first service group begins: a run that is open on the last one would otherwise be found
// hours later.
func (w *work) ready() runbook.Guard {
	guard := runbook.Ask("service-groups-ready", "Can every service group be rolled out, or its rollout be resumed?",
		w.readReadiness, decideReadiness)
	guard.OnResume, guard.NotOverridable = true, true
	return guard
}

func (w *work) readReadiness(ctx context.Context, run runbook.Run) ([]readiness, error) {
	var all []readiness
	for _, group := range w.plan.Groups {
		if run.Step(group.Name).Done {
			continue
		}
		runner := w.runner.Pipeline(group)
		open, err := runner.Open(ctx, group.Plan)
		one := readiness{ServiceGroup: group.Name, Run: open}
		var refused *engine.InvalidError
		switch {
		case errors.As(err, &refused):
			one.Refused = refused.Reason
		case err != nil:
			return nil, fmt.Errorf("service group %s: %w", group.Name, err)
		}
		moved, err := runner.Moved(ctx, group.Plan)
		switch {
		case err != nil:
			return nil, fmt.Errorf("service group %s: %w", group.Name, err)
		case moved:
			one.Refused = "files that its pipeline names have changed since the plan was made"
		}
		all = append(all, one)
	}
	return all, nil
}

func decideReadiness(all []readiness) runbook.Finding {
	resumed := 0
	for _, one := range all {
		if one.Refused != "" {
			return runbook.No("service group %s: %s", one.ServiceGroup, one.Refused).WithOutcome(runbook.Failed)
		}
		if one.Run != "" {
			resumed++
		}
	}
	return runbook.Yes("%d to be rolled out, %d of them have an open run that is resumed", len(all), resumed)
}

// standing is how far a service group is, by the two records.
type standing struct {
	ServiceGroup string `json:"serviceGroup"`
	// Done: the entrypoint's record says that it is rolled out.
	Done bool   `json:"done"`
	Run  string `json:"run"`
	// Outcome is how its pipeline's run ended: empty while that is open, gone where its record is not kept any more.
	Outcome string `json:"outcome"`
}

// String names the service group, and the run that was to roll it out.
func (s standing) String() string {
	if s.Run == "" {
		return s.ServiceGroup
	}
	return fmt.Sprintf("%s (run %s)", s.ServiceGroup, s.Run)
}

// gone is the outcome of a run whose record is not kept any more.
const gone = "gone"

// allDone is the check of an entrypoint: every service group is rolled out, also by the record of its pipeline's run,
// which is read once more.
func (w *work) allDone() runbook.Guard {
	return runbook.Ask("service-groups-done", "Is every service group rolled out?", w.readStandings, decideDone)
}

func (w *work) readStandings(ctx context.Context, run runbook.Run) ([]standing, error) {
	var all []standing
	for _, group := range w.plan.Groups {
		one := standing{ServiceGroup: group.Name, Done: run.Step(group.Name).Done}
		child, err := w.child(ctx, run, group)
		if err != nil {
			return nil, fmt.Errorf("service group %s: %w", group.Name, err)
		}
		one.Run = child.run
		switch {
		case child.record == nil:
			one.Outcome = gone
		case child.record.Closed != nil:
			one.Outcome = string(child.record.Closed.Outcome)
		}
		all = append(all, one)
	}
	return all, nil
}

func decideDone(all []standing) runbook.Finding {
	var missing []string
	for _, one := range all {
		if !one.Done || one.Outcome != string(runbook.RolledOut) && one.Outcome != gone {
			missing = append(missing, one.String())
		}
	}
	if len(missing) > 0 {
		return runbook.No("not rolled out: %s", strings.Join(missing, ", ")).WithOutcome(runbook.Failed)
	}
	return runbook.Yes("every service group is rolled out")
}
