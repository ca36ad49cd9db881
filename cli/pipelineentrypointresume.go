package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"salve/engine"
	"salve/internal/pipeline/entrypoint"
	"salve/journal"
)

// resumeEntrypoint resumes the open run of an entrypoint. Topology, configuration and flags come from its journal,
// files outside of the working folder from the operator as well.
func (a *app) resumeEntrypoint(
	command *cobra.Command, asked *pipelineRequest, kept *journal.Location, record *journal.Record,
) error {
	if len(asked.given) > 0 {
		return usage("run %q is of an entrypoint, which has no guard for --override; --allow-older REASON rolls out older "+
			"revisions", record.Run)
	}
	if len(asked.options.Answers) > 0 {
		return usage("run %q is of an entrypoint, whose steps ask nothing themselves. hint: give --answer to the run that "+
			"asks: salve resume RUN --answer GROUP/STEP=done", record.Run)
	}
	inputs, err := entrypoint.InputsOf(record.Header)
	if err != nil {
		return &attentionError{err}
	}
	if err := asked.paths.confirm(a, &asked.journalFlags, record.Run, asked.paths.ofEntrypoint(inputs)); err != nil {
		return err
	}
	fmt.Fprintln(a.stderr, announceEntrypoint(inputs))
	e := &entrypointRun{pipelineRequest: asked, app: a, kept: kept, leased: kept}
	if err := e.read(command.Context(), inputs); err != nil || e.plan == nil {
		return err
	}
	if err := e.awaitApproval(command.Context(), a, kept, &record.Header); err != nil {
		return err
	}
	return e.execute(command.Context(), func(ctx context.Context, runner *entrypoint.Runner) (engine.Result, error) {
		return runner.Resume(ctx, e.plan, record.Run, e.allowed())
	})
}

// announceEntrypoint says what a resumed entrypoint reads, writes and gives to its steps.
func announceEntrypoint(inputs entrypoint.Inputs) string {
	says := fmt.Sprintf("Resuming entrypoint %s of %s", inputs.Entrypoint, strings.Join(inputs.Topology, " and "))
	if inputs.Config != "" {
		says += " with configuration " + inputs.Config
	}
	if len(inputs.Pass) > 0 {
		says += "; its steps get " + strings.Join(inputs.Pass, ", ") + " of the environment"
	}
	return says + "; logs go to " + inputs.Logs + "."
}
