package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

// answers are what the operator says became of steps.
type answers []string

// read takes the answers apart.
func (given answers) read() (map[string]engine.Answer, error) {
	all := map[string]engine.Answer{}
	for _, text := range given {
		at := strings.LastIndex(text, "=")
		if at < 0 || !slices.Contains([]engine.Answer{engine.AnswerDone, engine.AnswerAgain}, engine.Answer(text[at+1:])) {
			return nil, usage("--answer %q: it is GROUP/STEP=%s or GROUP/STEP=%s", text, engine.AnswerDone, engine.AnswerAgain)
		}
		step, answer := text[:at], engine.Answer(text[at+1:])
		if before, twice := all[step]; twice && before != answer {
			return nil, usage("conflicting --answer for %s: %s and %s", step, before, answer)
		}
		all[step] = answer
	}
	return all, nil
}

// resumePipeline resumes the open run of a pipeline. File, configuration and
// flags come from its journal, files outside of the working folder from the operator
// as well.
func (a *app) resumePipeline(
	command *cobra.Command, asked *pipelineRequest, kept *journal.Location, record *journal.Record,
) error {
	if len(asked.given) > 0 {
		return usage("run %q is of a pipeline, which has no guard for --override; --allow-older REASON rolls out an older "+
			"revision", record.Run)
	}
	inputs, err := rollout.InputsOf(record.Header)
	if err != nil {
		return &attentionError{err}
	}
	if err := asked.paths.confirm(a, &asked.journalFlags, record.Run, asked.paths.ofPipeline(inputs)); err != nil {
		return err
	}
	fmt.Fprintln(a.stderr, announce(inputs))
	j := &pipelineRun{app: a, pipelineRequest: asked, kept: kept, leased: kept}
	if err := j.read(command.Context(), inputs.Pipeline, inputs); err != nil || j.plan == nil {
		return err
	}
	asked.inputs = inputs
	if err := asked.awaitApproval(command.Context(), a, kept, &record.Header); err != nil {
		return err
	}
	return j.execute(command.Context(), func(ctx context.Context, runner *rollout.Runner) (engine.Result, error) {
		return runner.Resume(ctx, j.plan, record.Run, asked.options)
	})
}
