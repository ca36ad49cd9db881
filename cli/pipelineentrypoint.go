package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/rollout"
	"salve/internal/pipeline/topology"
	"salve/journal"
)

// entrypointFlags say what of a topology is rolled out.
type entrypointFlags struct {
	topology []string
	named    string
	failFast bool
}

func (f *entrypointFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.topology, "topology", nil,
		"`FILE` of the topology of which --entrypoint is rolled out (repeatable)")
	flags.StringVar(&f.named, "entrypoint", "", "`NAME` of the entrypoint: its identifier, or what people call it")
	flags.BoolVar(&f.failFast, "fail-fast", false,
		"after a service group has failed, begin no other; those that were begun run to their end")
}

// arguments are a pipeline, or none where an entrypoint is named.
func (f *entrypointFlags) arguments(command *cobra.Command, arguments []string) error {
	switch {
	case len(f.topology) == 0 && (f.named != "" || f.failFast):
		return usage("--entrypoint and --fail-fast require --topology FILE")
	case len(f.topology) == 0:
		return oneArgument("the file of a pipeline")(command, arguments)
	case len(arguments) > 0:
		return usage("%s: a pipeline and --topology together: name one of them", command.CommandPath())
	case f.named == "":
		return usage("required flag --entrypoint not set")
	case !command.Flags().Changed("region"):
		return usage("required flag --region not set")
	}
	return nil
}

// entrypointRun is an entrypoint being executed.
type entrypointRun struct {
	*pipelineRequest
	app  *app
	plan *entrypoint.Plan
	// pipelines are those of the service groups, by their names.
	pipelines map[string]*pipelineRun
	kept      *journal.Location
	leased    *journal.Location
}

// runEntrypoint rolls out what the command line names, or says what that would do.
func (a *app) runEntrypoint(ctx context.Context, asked *pipelineRequest) error {
	kept, err := asked.open(ctx, a)
	if err != nil {
		return err
	}
	if asked.inputs.Logs == "" {
		if asked.inputs.Logs, err = a.logs(&asked.journalFlags); err != nil {
			return err
		}
	}
	inputs := entrypoint.Inputs{
		Topology: asked.whole.topology, Config: asked.inputs.Config, Root: asked.inputs.Root,
		Entrypoint: asked.whole.named, Skip: asked.inputs.Skip, Pass: asked.inputs.Pass,
		KeepGoing: asked.inputs.KeepGoing, FailFast: asked.whole.failFast, NoBuild: asked.inputs.NoBuild,
		Logs: asked.inputs.Logs, Concurrency: asked.inputs.Concurrency, Grace: asked.inputs.Grace,
	}
	place, err := asked.place.forConfig(inputs.Config)
	if err != nil {
		return err
	}
	if place != nil {
		inputs.Place = *place
	} else if err := asked.place.isRegionOf(inputs.Config); err != nil {
		return err
	}
	inputs.Place.Region = asked.place.context.Region
	e := &entrypointRun{pipelineRequest: asked, app: a, kept: kept, leased: kept}
	if err := e.read(ctx, inputs); err != nil || e.plan == nil {
		return err
	}
	if asked.dryRun {
		return e.preview(ctx)
	}
	if err := e.awaitApproval(ctx, a, kept, openHeader(ctx, kept, e.plan.Target().ID)); err != nil {
		return err
	}
	return e.execute(ctx, func(ctx context.Context, runner *entrypoint.Runner) (engine.Result, error) {
		return runner.Run(ctx, e.plan, e.allowed())
	})
}

// allowed are the options of the whole.
func (e *entrypointRun) allowed() entrypoint.Options {
	return entrypoint.Options{AllowOlder: e.options.AllowOlder, Approval: e.options.Approval, Plan: e.options.Plan}
}

// read reads and validates the topology and the pipelines. There is no plan, and what is wrong has been said, when they
// can't be used as they are.
func (e *entrypointRun) read(ctx context.Context, inputs entrypoint.Inputs) error {
	services, found, err := readTopology(inputs.Topology)
	if err != nil {
		return err
	}
	if found.Errors() > 0 {
		return e.app.mend(found)
	}
	first, known := services.Entry(inputs.Entrypoint)
	if !known {
		return unknownEntrypoint(services, inputs.Entrypoint)
	}
	var place *rollout.Place
	if inputs.Place.Cloud != "" { // a configuration that is rendered already is for no cloud
		place = &inputs.Place
	}
	config, wrong, err := e.app.configOf(inputs.Config, place)
	if err != nil || config == nil && place != nil {
		return err
	}
	if wrong.Errors() > 0 {
		return e.app.mend(wrong)
	}
	read, err := e.readPipelines(ctx, services, first, config, inputs.Root)
	if err != nil || read == nil {
		return err
	}
	plans, err := e.planPipelines(ctx, read, inputs, place)
	if err != nil {
		return err
	}
	if err := absolutePaths(&inputs); err != nil {
		return err
	}
	e.plan, err = entrypoint.NewPlan(first, plans, inputs)
	var cycle *entrypoint.CycleError
	if errors.As(err, &cycle) {
		return e.app.mend(diagnostic.List{first.Problem("cycle", cycle.Error())})
	}
	return err
}

// absolutePaths makes paths those that the record keeps.
func absolutePaths(inputs *entrypoint.Inputs) (err error) {
	inputs.Topology = slices.Clone(inputs.Topology)
	paths := []*string{&inputs.Config, &inputs.Root}
	for i := range inputs.Topology {
		paths = append(paths, &inputs.Topology[i])
	}
	for _, path := range paths {
		if *path, err = absolute(*path); err != nil {
			return err
		}
	}
	return nil
}

func unknownEntrypoint(services *topology.Topology, named string) error {
	var names []string
	for _, one := range services.Entrypoints {
		names = append(names, one.Identifier)
		if one.Name != "" {
			names = append(names, one.Name)
		}
	}
	if len(names) == 0 {
		return usage("unknown entrypoint %q: the topology has none", named)
	}
	return usage("unknown entrypoint %q. Available: %s", named, orList(names))
}

// readPipelines reads the pipelines of a service group and all below it. It gives none, and what is wrong with any of
// them has been said, where something is.
func (e *entrypointRun) readPipelines(
	ctx context.Context, services *topology.Topology, first *topology.Service, config *pipeline.Config, root string,
) (map[string]runnable, error) {
	var found diagnostic.List
	var files []*pipeline.File
	var outlines []*pipeline.Outline
	read := map[string]runnable{}
	for _, service := range first.Below() {
		one, err := e.readForRun(ctx, e.app, service.Pipeline, config, root)
		if err != nil {
			return nil, err
		}
		if found = append(found, one.found...); one.file == nil {
			continue
		}
		read[service.ServiceGroup] = one
		files, outlines = append(files, one.file), append(outlines, one.file.Outline())
	}
	found = append(found, misnamed(outlines, services)...)
	found = append(found, validateTogether(outlines, services)...)
	if found.Errors() > 0 {
		found.Sort()
		return nil, e.app.mend(found)
	}
	return read, e.checkPrograms("its pipelines", files...)
}

// planPipelines plans the rollouts of the service groups.
func (e *entrypointRun) planPipelines(
	ctx context.Context, read map[string]runnable, whole entrypoint.Inputs, place *rollout.Place,
) (map[string]*rollout.Plan, error) {
	e.pipelines = map[string]*pipelineRun{}
	plans := map[string]*rollout.Plan{}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		one := &pipelineRun{pipelineRequest: e.pipelineRequest, app: e.app, kept: e.kept, leased: e.leased}
		err := one.planned(ctx, read[name], rollout.Inputs{
			Config: whole.Config, Place: place, Region: whole.Place.Region, Root: whole.Root, Skip: whole.Skip, Pass: whole.Pass,
			KeepGoing: whole.KeepGoing, NoBuild: whole.NoBuild, Logs: whole.Logs, Concurrency: whole.Concurrency,
			Grace: whole.Grace,
		})
		if err != nil {
			return nil, fmt.Errorf("service group %s: %w", name, err)
		}
		e.pipelines[name], plans[name] = one, one.plan
	}
	return plans, nil
}

// execute rolls out, and tells how it ended.
func (e *entrypointRun) execute(
	parent context.Context, run func(context.Context, *entrypoint.Runner) (engine.Result, error),
) error {
	a, watch := e.app, &watch{app: e.app, clock: clock.RealClock{}}
	if err := a.observe(parent, e.telemetry, e.namespace, e.rolloutCluster(a, e.kept)); err != nil {
		return err
	}
	ctx, done := interruptible(parent, watch.say, watch.end)
	defer done()
	watch.begin(e.plan.Target().Name, false)
	defer watch.end()
	watch.arrange(e.plan.Waves())
	watch.estimate(ctx, e.kept, nil, sameTarget(entrypoint.Name, e.plan.Target()))
	leased, err := a.withLeases(ctx, watch.clock, &e.journalFlags, e.kept, e.rolloutCluster(a, e.kept), watch.say)
	if err != nil {
		return err
	}
	e.leased = leased
	for _, one := range e.pipelines {
		one.leased = leased
	}
	runner := e.runner(watch)
	result, err := runner.Retry(ctx, func() (engine.Result, error) { return run(ctx, runner) })
	watch.end()
	a.expire(ctx, e.retention, e.kept, watch.clock, result.Run)
	if result.Runbook == "" {
		return err
	}
	if reported := e.report(parent, result.Run); reported != nil && err == nil {
		err = reported
	}
	e.nameLogs(parent, result)
	told := &invocation{request: &e.request, app: a, verb: act, journal: e.kept, watch: watch}
	return told.answer(parent, []engine.Result{result}, err)
}

// runner is what rolls the plan out on this machine.
func (e *entrypointRun) runner(watch *watch) *entrypoint.Runner {
	return &entrypoint.Runner{
		Journal: e.leased, Clock: watch.clock, Holder: e.app.holder(), NewRun: e.app.newRun,
		Watch: e.app.observation.watch(e.asking(watch, watch.event)), Appended: e.app.observation.appended(),
		Approvals: e.from, Detailed: e.agreed,
		Program: builtFrom().String(), Command: e.app.command(),
		Pipeline: func(group entrypoint.Group) *rollout.Runner {
			runner := e.pipelines[group.Name].runner(watch)
			runner.Watch = e.app.observation.watch(e.asking(watch, watch.below(group.Name)))
			return runner
		},
		Retry: func(ctx context.Context, call func() (engine.Result, error)) (engine.Result, error) {
			return retryWhileHeld(ctx, watch, e.waitForLease, call)
		},
	}
}
