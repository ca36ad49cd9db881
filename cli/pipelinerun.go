package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"salve/engine"
	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/rollout"
	"salve/internal/pipeline/schema"
)

// defaultConcurrency is how many steps run at once: most of a step's time is
// waiting for somebody else's machine.
const defaultConcurrency = 10

// defaultGrace is how long a step has to end once it was told to.
const defaultGrace = 30 * time.Second

// pipelineRequest is what the user asked of salve pipeline run.
type pipelineRequest struct {
	request
	inputs  rollout.Inputs
	options rollout.Options
	skip    string
	// junit and timeline are files to write at the end.
	junit, timeline string
	// programs are those that run actions, as NAME=PROGRAM.
	programs []string
	// paths are those that a resumed run is confirmed with.
	paths pipelinePaths
	// place is where the configuration is rendered for.
	place contextFlags
	// from is where approvals come from; nil where none can.
	from engine.Approvals
	// agreed: somebody agrees to the plan, by an approval or by --plan. What is executed is read again after that.
	agreed bool
	// whole is what is rolled out of a topology; without one it is a single pipeline.
	whole entrypointFlags
}

func newPipelineRun(a *app) *cobra.Command {
	asked := &pipelineRequest{}
	command := &cobra.Command{
		Use:   "run FILE | run --topology FILE --entrypoint NAME --region REGION",
		Short: "Run a pipeline, or those of an entrypoint, as parallel as they allow; or resume the open run",
		Long: `Run takes the target, builds what the steps execute, sees to it that this machine
can execute it, and runs the steps, each as soon as all that it waits for is done.
Every step's output goes to a log file of its own. What was done is in the journal: the same command, or
salve resume, resumes a run that failed or was stopped.

Steps see nothing of who runs them: --pass names what they get of the environment.

With --topology it rolls out a service group and all below it, each after those that it waits for. Every pipeline has
a run of its own, under one for the whole, which is the one to resume. A service group that fails stops those that wait
for it, and no others unless --fail-fast is given.

Exit codes: 0 all steps are done or skipped; 1 a step failed; 2 wrong usage; 3 undecided; 4 a
person has to look, because nobody knows what became of a step.`,
		Example: `  # Run a pipeline
  salve pipeline run pipeline.yaml --config config.yaml
  # Say what rolling out a region would do
  salve pipeline run --topology topology.yaml --entrypoint Region --config config.yaml \
    --environment int --region uksouth --dry-run`,
		Args: asked.whole.arguments,
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := asked.check(a, command); err != nil {
				return err
			}
			if len(asked.whole.topology) > 0 {
				return a.runEntrypoint(command.Context(), asked)
			}
			return a.runPipeline(command.Context(), asked, arguments[0])
		},
	}
	groupFlags(command)
	asked.addFlags(command)
	a.addPlanOutput(command, &asked.request)
	return command
}

func (r *pipelineRequest) addFlags(command *cobra.Command) {
	flags := command.Flags()
	r.journalFlags.addFlags(flags)
	r.retention.addFlag(flags)
	r.telemetry.addFlags(flags)
	flags.StringVar(&r.inputs.Config, "config", "", "`FILE` with the configuration that templates and configRefs lead to")
	r.place.addRunFlags(flags)
	r.whole.addFlags(flags)
	rootFlag(flags, &r.inputs.Root)
	flags.IntVar(&r.inputs.Concurrency, "concurrency", defaultConcurrency, "how many steps may run at once")
	flags.BoolVar(&r.inputs.KeepGoing, "keep-going", false, "after a failure, run the steps that do not depend on it")
	flags.BoolVar(&r.inputs.NoBuild, "no-build", false, "don't build: the programs are there, and are examined")
	flags.StringVar(&r.skip, "skip-actions", "", "leave out the steps of these `ACTIONS`, separated by commas")
	flags.StringArrayVar(&r.inputs.Pass, "pass", nil,
		"`NAME` of a variable of the environment that steps get (repeatable)")
	flags.DurationVar(&r.inputs.Grace, "grace", defaultGrace,
		"how long a step has to end when it is told to, before it is killed")
	flags.StringVar(&r.inputs.Logs, "logs", "", "`folder` for the steps' logs (default: beside the journal)")
	flags.StringVar(&r.options.AllowOlder, "allow-older", "",
		"the `reason` for rolling out an older revision than was rolled out before")
	flags.BoolVar(&r.dryRun, "dry-run", false, "change nothing: print the plan with all that is known")
	flags.StringVar(&r.plan, "plan", "",
		"execute this plan and no other: the `FILE` that --dry-run -o has written, or a digest")
	flags.DurationVar(&r.waitForLease, "wait-for-lease", 0,
		"how long to wait while another runner is at work on the target")
	r.approvalFlags.addFlags(flags)
	r.addPrograms(command)
	r.addReports(command)
}

// addPrograms adds the programs of actions. A resumed run is given them anew: a record names no program to execute.
func (r *pipelineRequest) addPrograms(command *cobra.Command) {
	programFlag(command.Flags(), &r.programs)
}

// addReports are the flags for what is written at the end.
func (r *pipelineRequest) addReports(command *cobra.Command) {
	command.Flags().StringVar(&r.junit, "junit", "", "`FILE` to write the steps' results to, as JUnit XML")
	command.Flags().StringVar(&r.timeline, "timeline", "", "`FILE` to write a picture to of what ran when, as SVG")
}

// check finds invalid flags.
func (r *pipelineRequest) check(a *app, command *cobra.Command) error {
	if r.inputs.Concurrency < 1 {
		return usage("invalid --concurrency %d: it must be at least 1", r.inputs.Concurrency)
	}
	if r.inputs.Grace < 0 {
		return usage("invalid --grace %s: it must be 0 or more", r.inputs.Grace)
	}
	for action := range strings.SplitSeq(r.skip, ",") {
		action = strings.TrimSpace(action)
		switch {
		case action == "":
		case !schema.Known(action) && !slices.ContainsFunc(r.programs, func(one string) bool {
			return strings.HasPrefix(one, action+"=")
		}):
			return usage("invalid --skip-actions: unknown action %q. Available: %s", action,
				strings.Join(schema.Actions(), ", "))
		default:
			r.inputs.Skip = append(r.inputs.Skip, action)
		}
	}
	r.inputs.Region = r.place.context.Region
	if region := r.inputs.Region; command.Flags().Changed("region") && !regionName.MatchString(region) {
		return usage("invalid --region %q: it is a name such as westeurope. hint: az account list-locations", region)
	}
	if command.Flags().Changed("allow-older") && strings.TrimSpace(r.options.AllowOlder) == "" {
		return usage("invalid --allow-older: requires a reason")
	}
	for _, name := range r.inputs.Pass {
		if name == "" || strings.Contains(name, "=") {
			return usage("invalid --pass %q: it must be the name of a variable; its value comes from the environment", name)
		}
	}
	if r.waitForLease < 0 {
		return usage("invalid --wait-for-lease %s: it must be 0 or more", r.waitForLease)
	}
	if err := r.readBound(a, command); err != nil {
		return err
	}
	if err := r.retention.read(a, command.Flags()); err != nil {
		return err
	}
	if err := r.cloud.check(); err != nil {
		return err
	}
	if err := r.journalFlags.read(a, command.Flags()); err != nil {
		return err
	}
	if err := r.approvalFlags.read(a, command.Flags()); err != nil {
		return err
	}
	if r.place.context.Cloud == "" {
		r.place.context.Cloud = r.cloud.name
	}
	return nil
}

// readBound takes the plan that the run is bound to, and the file that a dry run writes one to.
func (r *pipelineRequest) readBound(a *app, command *cobra.Command) error {
	if err := a.readPlanOutput(command, &r.request); err != nil {
		return err
	}
	if r.planFile != "" && !r.dryRun {
		return usage("--output %s: it is --dry-run that writes the plan to a file", r.planFile)
	}
	r.agreed = r.dryRun
	if len(r.whole.topology) > 0 {
		return r.readPlan(entrypoint.Name)
	}
	return r.readPlan(rollout.Name)
}

func (a *app) runPipeline(ctx context.Context, asked *pipelineRequest, path string) error {
	a.route = asked.cloud.typed()
	kept, err := asked.open(ctx, a)
	if err != nil {
		return err
	}
	if asked.inputs.Logs == "" {
		if asked.inputs.Logs, err = a.logs(&asked.journalFlags); err != nil {
			return err
		}
	}
	if asked.inputs.Place, err = asked.place.forConfig(asked.inputs.Config); err != nil {
		return err
	}
	j := &pipelineRun{app: a, pipelineRequest: asked, kept: kept, leased: kept}
	if err := j.read(ctx, path, asked.inputs); err != nil || j.plan == nil {
		return err
	}
	if asked.dryRun {
		return j.preview(ctx)
	}
	if err := j.awaitApproval(ctx, a, kept, openHeader(ctx, kept, j.plan.Target().ID)); err != nil {
		return err
	}
	return j.execute(ctx, func(ctx context.Context, runner *rollout.Runner) (engine.Result, error) {
		return runner.Run(ctx, j.plan, asked.options)
	})
}
