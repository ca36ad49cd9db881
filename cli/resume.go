package cli

import (
	"github.com/spf13/cobra"

	"salve/engine"
	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

func newResume(a *app) *cobra.Command {
	asked, given := &pipelineRequest{}, answers{}
	command := &cobra.Command{
		Use:   "resume RUN",
		Short: "Resume an open run from where it is",
		Long: `Resume an open run. Target and inputs come from its journal; what was started
is looked for in the world first, and never made twice. Of a pipeline, what was not
done is run; a step of which nobody knows whether it was done is asked about.

The record says which files a pipeline was started with. It is not believed alone:
files outside of the working folder have to be named again, and must be the same.`,
		Example: `  # Resume the run that salve runs list shows as open
  salve resume 20261122-021300-4f1a2b --kubeconfig ~/.kube/config
  # Resume a pipeline, and answer what it asked about a step
  salve resume 20261122-021300-4f1a2b --answer deploy/migrate=done`,
		Args: aRun(),
		RunE: func(command *cobra.Command, arguments []string) (err error) {
			if asked.options.Answers, err = given.read(); err != nil {
				return err
			}
			return a.resume(command, asked, arguments[0])
		},
	}
	groupFlags(command)
	asked.journalFlags.addFlags(command.Flags())
	asked.retention.addFlag(command.Flags())
	asked.telemetry.addFlags(command.Flags())
	command.Flags().StringArrayVar(&asked.given, "override", nil,
		"guard=reason: continue although this guard does not hold (repeatable)")
	command.Flags().DurationVar(&asked.waitForLease, "wait-for-lease", 0,
		"how long to wait while another runner is at work on the target")
	command.Flags().BoolVarP(&asked.yes, "yes", "y", false, "don't ask on a terminal before a run that can't be undone")
	asked.addKey(command.Flags())
	command.Flags().StringArrayVar((*[]string)(&given), "answer", nil,
		"GROUP/STEP=done or =again: what became of a pipeline's step that was cut off (repeatable)")
	command.Flags().StringVar(&asked.options.AllowOlder, "allow-older", "",
		"the `reason` for rolling out an older revision than was rolled out before")
	command.Flags().StringVar(&asked.paths.pipeline, "pipeline", "",
		"`FILE` of the pipeline, needed when it is outside of the working folder")
	command.Flags().StringVar(&asked.paths.config, "config", "",
		"`FILE` with the pipeline's configuration, needed when it is outside of the working folder")
	command.Flags().StringVar(&asked.paths.root, "root", "",
		"`folder` that the pipeline's steps may work in, needed when it is outside of the working folder")
	command.Flags().StringVar(&asked.paths.logs, "logs", "",
		"`folder` for the steps' logs, needed when it is neither the usual one nor in the working folder")
	command.Flags().StringVar(&asked.paths.values, "values", "",
		"`FILE` with what the configuration's templates lead to, needed when it is outside of the working folder")
	command.Flags().StringArrayVar(&asked.paths.overlays, "overlay", nil,
		"`FILE` that was laid over the configuration, needed when it is outside of the working folder (repeatable)")
	command.Flags().StringArrayVar(&asked.paths.topology, "topology", nil,
		"`FILE` of an entrypoint's topology, needed when it is outside of the working folder (repeatable)")
	asked.addPrograms(command)
	asked.addReports(command)
	return command
}

func (a *app) resume(command *cobra.Command, asked *pipelineRequest, run string) error {
	if err := asked.readOverrides(a.lookup); err != nil {
		return err
	}
	if err := asked.retention.read(a, command.Flags()); err != nil {
		return err
	}
	kept, record, err := a.load(command, &asked.journalFlags, run)
	if err != nil {
		return err
	}
	if record.Header.Approval == nil && !record.PastReturn() { // a run that was started with a rule keeps it
		if err := asked.approvalFlags.read(a, command.Flags()); err != nil {
			return err
		}
	}
	if scenario := record.Header.Rehearsal; scenario != "" && record.MigratedTo == nil && record.Closed == nil {
		return usage("run %q is a rehearsal of %s, whose Azure ended with it. hint: %s", run, scenario, record.Header.Command)
	}
	if record.Header.Runbook == rollout.Name {
		return a.resumePipeline(command, asked, kept, record)
	}
	if record.Header.Runbook == entrypoint.Name {
		return a.resumeEntrypoint(command, asked, kept, record)
	}
	if len(asked.options.Answers) > 0 || asked.options.AllowOlder != "" || asked.junit != "" || asked.timeline != "" ||
		asked.paths.given() || len(asked.programs) > 0 {
		return usage("run %q is of runbook %s; --answer, --allow-older, --action, --junit, --timeline, --pipeline, "+
			"--config, --values, --overlay, --topology, --root and --logs are for runs of pipelines", run, record.Header.Runbook)
	}
	return a.resumeRunbook(command, &asked.request, kept, record)
}

func (a *app) resumeRunbook(
	command *cobra.Command, asked *request, kept *journal.Location, record *journal.Record,
) error {
	definition, err := a.entryOf(record.Header)
	if err != nil {
		return err
	}
	if err := sameCloud(command, &asked.journalFlags, record.History); err != nil {
		return err
	}
	a.logCalls()
	factory, err := definition.resumed(command.Context(), a, asked, record.Header)
	if err != nil {
		return err
	}
	book, err := factory.again(command.Context(), kept, record.Header)
	if err != nil {
		return err
	}
	if err := a.observe(command.Context(), asked.telemetry, asked.namespace, factory.cluster); err != nil {
		return err
	}
	e := newInvocation(a, asked, factory, act)
	e.journal = kept
	ctx, done := interruptible(command.Context(), e.watch.say, e.watch.end)
	defer done()
	if err := e.leaseInWorld(ctx); err != nil {
		return err
	}
	if e.from, err = a.approvals(ctx, kept, &asked.approvalFlags, factory.cluster); err != nil {
		return err
	}
	machine, options := e.machine(), engine.Options{
		Overrides: asked.overridesFor(book), Approval: asked.rule,
	}
	if options.Plan, err = e.confirmed(ctx, machine, book, record, options); err != nil {
		return err
	}
	e.watch.begin(book.Name+" on "+book.Target.Name, false)
	e.watch.recall(record.History)
	e.watch.estimate(ctx, kept, nil, sameRunbook(book.Name))
	result, err := retryWhileHeld(ctx, e.watch, asked.waitForLease, func() (engine.Result, error) {
		return machine.Resume(ctx, book, record.Run, options)
	})
	e.watch.end()
	a.expire(ctx, asked.retention, e.journal, e.clock, result.Run)
	result, err = e.undecidedIfUnreachable(book.Target, result, err)
	if result.Runbook == "" {
		return err
	}
	return e.answer(command.Context(), []engine.Result{result}, err)
}
