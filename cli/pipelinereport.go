package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/internal/pipeline/timeline"
	"salve/internal/redact"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
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
	for _, wanted := range []struct {
		path  string
		write func(io.Writer, *journal.History) error
	}{{j.junit, timeline.JUnit}, {j.timeline, timeline.Timeline}} {
		if wanted.path == "" {
			continue
		}
		if err := writeTo(wanted.path, func(w io.Writer) error { return wanted.write(w, record.History) }); err != nil {
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

// rolloutPlanDocument is what salve pipeline run --dry-run would do.
type rolloutPlanDocument struct {
	report.Document
	Target   string            `json:"target"`
	Revision string            `json:"revision,omitempty"`
	Programs string            `json:"programs"`
	Steps    []rollout.Preview `json:"steps"`
}

// preview prints the plan with all that is known, and changes nothing.
func (j *pipelineRun) preview(ctx context.Context) error {
	runner := j.runner(&watch{app: j.app, clock: clock.RealClock{}})
	previews, err := runner.Preview(ctx, j.plan)
	if err != nil {
		return err
	}
	fits := j.programsFit().Evaluate(ctx, nil)
	if fits.Answer != runbook.AnswerHolds {
		j.app.exit = exitFailed
	}
	if j.app.json() {
		return j.app.document(rolloutPlanDocument{
			report.NewDocument("rollout-plan"), j.plan.Target().Name, j.plan.Inputs.Revision, fits.Reason, previews,
		})
	}
	out := j.app.stdout
	fmt.Fprintf(out, "%s, %s, digest %s\n", j.plan.Target().Name,
		report.Count(len(previews), "step", "steps"), j.plan.Inputs.Digest)
	if j.plan.Inputs.Revision != "" {
		fmt.Fprintf(out, "revision %s\n", j.plan.Inputs.Revision)
	}
	for _, preview := range previews {
		fmt.Fprintf(out, "\n%s  %s\n", preview.Step, preview.Action)
		for _, variable := range preview.Variables {
			line := fmt.Sprintf("%s=%s", variable.Name, redact.Redact([]byte(variable.Text)))
			if variable.Run != "" {
				line += fmt.Sprintf(" (as in run %s)", variable.Run)
			}
			fmt.Fprintf(out, "    %s\n", line)
		}
		if preview.Says != "" {
			fmt.Fprintf(out, "    %s\n", strings.ReplaceAll(string(redact.Redact([]byte(preview.Says))), "\n", "\n    "))
		}
	}
	says := "Nothing was changed. To act: " + j.app.actCommand()
	if fits.Answer != runbook.AnswerHolds {
		says = "Nothing was changed, and a run would be refused."
	}
	fmt.Fprintf(out, "\n%s.\n%s\n", fits.Reason, says)
	return nil
}
