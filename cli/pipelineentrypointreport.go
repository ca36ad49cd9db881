package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"salve/engine"
	"salve/internal/console"
	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/timeline"
	"salve/internal/report"
	"salve/journal"
)

// records are those of an entrypoint's run and of its service groups' pipelines, in their order; nil of those that did
// not begin.
func (e *entrypointRun) records(ctx context.Context, run string) (*journal.Record, []*journal.Record, error) {
	whole, err := journal.Load(ctx, e.kept, run)
	if err != nil {
		return nil, nil, err
	}
	parts := make([]*journal.Record, len(e.plan.Groups))
	for i, group := range e.plan.Groups {
		name, err := entrypoint.RunOf(whole.History, group.Name)
		switch {
		case err != nil:
			return nil, nil, err
		case name == "":
			continue
		}
		record, err := journal.Load(ctx, e.kept, name)
		var missing *journal.MissingError
		if err != nil && !errors.As(err, &missing) {
			return nil, nil, err
		}
		parts[i] = record
	}
	return whole, parts, nil
}

// report writes what was asked to be written of a run.
func (e *entrypointRun) report(ctx context.Context, run string) error {
	if e.junit == "" && e.timeline == "" {
		return nil
	}
	whole, records, err := e.records(ctx, run)
	if err != nil {
		return err
	}
	var parts []timeline.Part
	for i, group := range e.plan.Groups {
		one := timeline.Part{Name: group.Name}
		if records[i] != nil {
			one.History = records[i].History
		}
		for _, step := range group.Plan.Steps {
			one.Steps = append(one.Steps, step.ID().String())
		}
		parts = append(parts, one)
	}
	return e.writeReports(whole.History, parts...)
}

// nameLogs says where to read what the steps said that were not done.
func (e *entrypointRun) nameLogs(ctx context.Context, result engine.Result) {
	_, records, err := e.records(ctx, result.Run)
	if err != nil {
		return // whoever prints the answer reads them too, and says so
	}
	for i, group := range e.plan.Groups {
		if records[i] != nil {
			e.pipelines[group.Name].nameLogs(ctx, engine.Result{Run: records[i].Run})
		}
	}
}

// entrypointPlanDocument is what salve pipeline run --entrypoint --dry-run would do.
type entrypointPlanDocument struct {
	report.Document
	Target        string           `json:"target"`
	Digest        string           `json:"digest"`
	ServiceGroups []previewedGroup `json:"serviceGroups"`
	proposedPlan
}

// preview prints the plan with all that is known, and changes nothing.
func (e *entrypointRun) preview(ctx context.Context) error {
	all := make([]previewedGroup, 0, len(e.plan.Groups))
	var unfit, failed []string
	for _, group := range e.plan.Groups {
		seen, err := e.pipelines[group.Name].previewed(ctx, len(group.After) > 0)
		if err != nil {
			return fmt.Errorf("service group %s: %w", group.Name, err)
		}
		if seen.unfit != "" {
			unfit = append(unfit, "service group "+group.Name+": "+seen.unfit)
		}
		for _, step := range seen.failed() {
			failed = append(failed, group.Name+" "+step)
		}
		all = append(all, previewedGroup{group.Name, group.After, &seen, seen.unknown()})
	}
	made, err := e.propose(ctx)
	if err != nil {
		return err
	}
	made.judge(e.app, strings.Join(unfit, "; "), failed)
	says, err := e.unchanged(e.app, made)
	if err != nil {
		return err
	}
	target := e.plan.Target()
	if e.app.json() {
		return e.app.document(entrypointPlanDocument{
			report.NewDocument("entrypoint-plan"), target.Name, e.plan.Inputs.Digest, all, made,
		})
	}
	out := e.app.stdout
	fmt.Fprintf(out, "%s, %s, digest %s\n", target.Name,
		report.Count(len(all), "service group", "service groups"), e.plan.Inputs.Digest)
	for _, one := range all {
		one.print(out)
	}
	fmt.Fprintf(out, "\n%s\n", console.Visible(says))
	return nil
}
