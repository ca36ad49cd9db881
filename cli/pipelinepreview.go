package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"k8s.io/utils/clock"

	"salve/internal/console"
	"salve/internal/pipeline/rollout"
	"salve/internal/redact"
	"salve/internal/report"
	"salve/runbook"
)

// previewed is what a run of a pipeline would do.
type previewed struct {
	Target   string            `json:"target"`
	Revision string            `json:"revision,omitempty"`
	Programs string            `json:"programs"`
	Steps    []rollout.Preview `json:"steps"`

	digest string
	// unfit is why this machine can't execute the programs; empty where it can.
	unfit string
}

// failed are the steps that could not be run as they are, or whose dry runs failed.
func (p previewed) failed() []string {
	var names []string
	for _, step := range p.Steps {
		if step.Err != nil {
			names = append(names, step.Step)
		}
	}
	return names
}

// unknown is why it isn't known what the first step would do of which it isn't.
func (p previewed) unknown() string {
	for _, step := range p.Steps {
		if step.Unknown {
			return step.Step + ": " + step.Says
		}
	}
	return ""
}

// rolloutPlanDocument is what salve pipeline run --dry-run would do.
type rolloutPlanDocument struct {
	report.Document
	previewed
	proposedPlan
}

// previewed asks what a run would do, and changes nothing. Later says that other pipelines are rolled out before.
func (j *pipelineRun) previewed(ctx context.Context, later bool) (previewed, error) {
	runner := j.runner(&watch{app: j.app, clock: clock.RealClock{}})
	steps, err := runner.Preview(ctx, j.plan, later)
	if err != nil {
		return previewed{}, err
	}
	for i, step := range steps {
		if step.Err != nil {
			steps[i].Failed = string(redact.Redact([]byte(j.app.ownCommands(j.app.named(step.Err)))))
		}
	}
	fits := j.programsFit().Evaluate(ctx, nil)
	seen := previewed{
		Target: j.plan.Target().Name, Revision: j.plan.Inputs.Revision, Programs: fits.Reason, Steps: steps,
		digest: j.plan.Inputs.Digest,
	}
	if fits.Answer != runbook.AnswerHolds {
		seen.unfit = fits.Reason
	}
	return seen, nil
}

// preview prints the plan with all that is known, and changes nothing.
func (j *pipelineRun) preview(ctx context.Context) error {
	seen, err := j.previewed(ctx, false)
	if err != nil {
		return err
	}
	made, err := j.propose(ctx)
	if err != nil {
		return err
	}
	made.judge(j.app, seen.unfit, seen.failed())
	says, err := j.unchanged(j.app, made)
	if err != nil {
		return err
	}
	if j.app.json() {
		return j.app.document(rolloutPlanDocument{report.NewDocument("rollout-plan"), seen, made})
	}
	seen.print(j.app.stdout)
	fmt.Fprintf(j.app.stdout, "\n%s.\n%s\n", seen.Programs, console.Visible(says))
	return nil
}

// print prints the steps in an order in which they could be done.
func (p previewed) print(out io.Writer) {
	fmt.Fprintf(out, "%s, %s, digest %s\n", p.Target, report.Count(len(p.Steps), "step", "steps"), p.digest)
	if p.Revision != "" {
		fmt.Fprintf(out, "revision %s\n", p.Revision)
	}
	for _, preview := range p.Steps {
		fmt.Fprintf(out, "\n%s  %s\n", preview.Step, preview.Action)
		if len(preview.ExternalDependsOn) > 0 {
			fmt.Fprintf(out, "    after %s\n", strings.Join(preview.ExternalDependsOn, ", "))
		}
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
		if preview.Failed != "" {
			fmt.Fprintf(out, "    failed: %s\n", console.Visible(preview.Failed))
		}
	}
}
