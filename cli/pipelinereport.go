package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/internal/pipeline/timeline"
	"salve/journal"
)

// report writes what was asked to be written of a run.
func (j *pipelineRun) report(ctx context.Context, run string) error {
	if j.junit == "" && j.timeline == "" {
		return nil
	}
	record, err := journal.Load(ctx, j.kept, run)
	if err != nil {
		return err
	}
	return j.writeReports(record.History)
}

// writeReports writes what was asked to be written of a run, or of those that did its work.
func (r *pipelineRequest) writeReports(whole *journal.History, parts ...timeline.Part) error {
	for _, wanted := range []struct {
		path  string
		write func(io.Writer, *journal.History, ...timeline.Part) error
	}{{r.junit, timeline.JUnit}, {r.timeline, timeline.Timeline}} {
		if wanted.path == "" {
			continue
		}
		if err := writeTo(wanted.path, func(w io.Writer) error { return wanted.write(w, whole, parts...) }); err != nil {
			return fmt.Errorf("writing %s: %w", wanted.path, err)
		}
	}
	return nil
}

// nameLogs says where to read what the steps said that were not done.
func (j *pipelineRun) nameLogs(ctx context.Context, result engine.Result) {
	record, err := journal.Load(ctx, j.kept, result.Run)
	if err != nil {
		return // whoever prints the answer reads it too, and says so
	}
	logs := rollout.LogFolder(j.plan.Inputs.Logs)
	for _, step := range j.plan.Steps {
		if history := record.Step(step.ID().String()); history.Attempts > 0 && !history.Finished() {
			if path := logs.Path(result.Run, step.ID()); exists(path) {
				fmt.Fprintf(j.app.stderr, "What %s said: %s\n", step.ID(), path)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func writeTo(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
