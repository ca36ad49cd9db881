package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/actionprogram"
	"salve/internal/pipeline/build"
	"salve/internal/pipeline/changedfiles"
	"salve/internal/pipeline/command"
	"salve/internal/pipeline/program"
	"salve/internal/pipeline/rollout"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// pipelineRun is a pipeline being executed.
type pipelineRun struct {
	*pipelineRequest
	app  *app
	plan *rollout.Plan
	// programs run the actions that Salve does not have itself, by their names.
	programs map[string]actionprogram.Program
	kept     *journal.Location
	// leased is kept with the leases that are taken besides.
	leased *journal.Location
	// text is the pipeline's file as it was read.
	text []byte
	// charts are those that were read from registries.
	charts readCharts
}

// read reads and validates a pipeline. There is no plan, and what is wrong has been said, when it can't be used as it
// is.
func (j *pipelineRun) read(ctx context.Context, path string, inputs rollout.Inputs) error {
	config, found, err := j.app.configOf(inputs.Config, inputs.Place)
	if err != nil || config == nil && inputs.Place != nil {
		return err
	}
	one, err := j.readForRun(ctx, j.app, path, config, inputs.Root)
	if err != nil {
		return err
	}
	if found = append(found, one.found...); found.Errors() > 0 {
		return j.app.mend(found)
	}
	if err := j.checkPrograms(path, one.file); err != nil {
		return err
	}
	return j.planned(ctx, one, inputs)
}

// runnable is a pipeline that was read to be run, with what was found of it. Its file is resolved where that is without
// errors.
type runnable struct {
	path    string
	content []byte
	file    *pipeline.File
	config  *pipeline.Config
	found   diagnostic.List
}

// readForRun reads and validates a pipeline.
func (r *pipelineRequest) readForRun(
	ctx context.Context, a *app, path string, config *pipeline.Config, root string,
) (runnable, error) {
	one := runnable{path: path, config: config}
	var err error
	if one.content, err = pipeline.ReadContent(path); err != nil {
		return one, usage("%v", err)
	}
	own, err := readSitesActions(r.programs, path)
	if err != nil {
		return one, err
	}
	if one.file, one.found = pipeline.ParseWith(path, one.content, own.has); one.found.Errors() > 0 {
		return one, nil
	}
	if err := a.restoreBuild(ctx, one.file); err != nil {
		return one, err
	}
	if paths := one.file.ConfigPaths(); config == nil && len(paths) > 0 {
		return one, usage("%s leads into a configuration, as by %s: --config FILE names it", path, paths[0])
	}
	environment := a.environmentOf(config, false)
	environment.Root, environment.Programs = root, own.program
	one.file, one.found = pipeline.Validate(one.file, environment)
	return one, nil
}

// planned plans a pipeline without errors.
func (j *pipelineRun) planned(ctx context.Context, one runnable, inputs rollout.Inputs) error {
	if err := j.app.sayWithoutEffect(one.found); err != nil {
		return err
	}
	named, err := changedfiles.Content(ctx, one.file)
	if err != nil {
		return err
	}
	if j.programs, err = j.findPrograms(one.file, inputs.Skip); err != nil {
		return err
	}
	content := digest(one.content, named+digests(j.programs), one.file, one.config)
	inputs.Digest = content[:shownContent]
	if inputs.Pipeline, err = filepath.Abs(one.path); err != nil {
		return fmt.Errorf("finding %s: %w", one.path, err)
	}
	for _, named := range []*string{&inputs.Config, &inputs.Root} {
		if *named, err = absolute(*named); err != nil {
			return err
		}
	}
	if j.plan, err = rollout.NewPlan(one.file, inputs); err != nil {
		return err
	}
	j.plan.Content, j.text = content, one.content
	return nil
}

// shownContent is how many digits of a content's digest records have.
const shownContent = 16

// content is the digest of the pipeline, with the files that it names as they are now. What was read into memory does
// not change any more.
func (j *pipelineRun) content(ctx context.Context) (string, error) {
	named, err := changedfiles.Content(ctx, j.plan.File)
	if err != nil {
		return "", err
	}
	return digest(j.text, named+digests(j.programs), j.plan.File, j.plan.File.Config()), nil
}

// absolute is the absolute path of a file that the command line names; empty where it names none.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding what the command line names: %w", err)
	}
	return whole, nil
}

// sayWithoutEffect says what of a pipeline is otherwise when it is run here: which fields do nothing, which actions are
// programs', and which variables other rollout tools write in another form.
func (a *app) sayWithoutEffect(found diagnostic.List) error {
	var none diagnostic.List
	for _, one := range found {
		if slices.Contains([]string{"no-effect", "own-action", "variable-json"}, one.Rule) {
			none = append(none, one)
		}
	}
	return diagnostic.Text(a.stderr, none)
}

// restoreBuild brings back what was there before a build that was killed: half of a
// program must not be validated.
func (a *app) restoreBuild(ctx context.Context, file *pipeline.File) error {
	if file.BuildStep == nil {
		return nil
	}
	order, err := a.order(file, false)
	if err != nil {
		return nil // without a folder to remember builds none was started, and a build will say so
	}
	return build.Mend(ctx, order)
}

// digest stands for a pipeline, the content of what it names, and all that it uses of
// a configuration.
func digest(content []byte, named string, file *pipeline.File, config *pipeline.Config) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d\n%s%s", len(content), content, named)
	if config != nil {
		for _, path := range file.ConfigPaths() {
			held, there := config.Holds(path)
			fmt.Fprintf(sum, "\n%q %q %v", path, held, there)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// logs is where steps' logs are kept.
func (a *app) logs(from *journalFlags) (string, error) {
	if from.folder != "" {
		return filepath.Abs(filepath.Join(from.folder, "logs"))
	}
	folder, err := a.stateFolder("logs")
	if err != nil {
		return "", usage("home folder not found for the steps' logs. hint: --logs FOLDER")
	}
	return folder, nil
}

// execute runs, and tells how it ended.
func (j *pipelineRun) execute(
	parent context.Context, run func(context.Context, *rollout.Runner) (engine.Result, error),
) error {
	a, watch := j.app, &watch{app: j.app, clock: clock.RealClock{}}
	if err := a.observe(parent, j.telemetry, j.namespace, j.rolloutCluster(a, j.kept)); err != nil {
		return err
	}
	ctx, done := interruptible(parent, watch.say, watch.end)
	defer done()
	watch.begin(j.plan.File.RolloutName.Value+", "+j.plan.Target().Name, false)
	defer watch.end()
	watch.arrange(j.plan.Waves())
	watch.estimate(ctx, j.kept, nil, sameTarget(rollout.Name, j.plan.Target()))
	leased, err := a.withLeases(ctx, watch.clock, &j.journalFlags, j.kept, j.rolloutCluster(a, j.kept), watch.say)
	if err != nil {
		return err
	}
	j.leased = leased
	runner := j.runner(watch)
	result, err := retryWhileHeld(ctx, watch, j.waitForLease, func() (engine.Result, error) { return run(ctx, runner) })
	watch.end()
	a.expire(ctx, j.retention, j.kept, watch.clock, result.Run)
	if result.Runbook == "" {
		return err
	}
	e := &invocation{request: &j.request, app: a, verb: act, journal: j.kept, watch: watch}
	if reported := j.report(parent, result.Run); reported != nil && err == nil {
		err = reported
	}
	j.nameLogs(parent, result)
	return e.answer(parent, []engine.Result{result}, err)
}

// build builds what the steps execute.
func (j *pipelineRun) build(ctx context.Context, watch *watch) (string, error) {
	order, err := j.app.order(j.plan.File, false)
	if err != nil {
		return "", err
	}
	lines := &lines{say: watch.say}
	defer lines.end()
	order.Output, order.Machine = lines, program.Here()
	made, err := j.app.build(ctx, order)
	return builtIn(made), err
}

// runner is what runs the plan on this machine.
func (j *pipelineRun) runner(watch *watch) *rollout.Runner {
	runner := &rollout.Runner{
		Journal: j.leased, Clock: watch.clock, Holder: j.app.holder(), NewRun: j.app.newRun,
		Watch: j.app.observation.watch(j.asking(watch, watch.event)), Appended: j.app.observation.appended(),
		Program: builtFrom().String(), Command: j.app.command(),
		Actions: j.actions(), OpenLog: rollout.LogFolder(j.plan.Inputs.Logs).Open, Guards: []runbook.Guard{j.programsFit()},
	}
	if j.plan.File.BuildStep != nil && !j.plan.Inputs.NoBuild {
		runner.Prepare = func(ctx context.Context) (string, error) { return j.build(ctx, watch) }
	}
	runner.Approvals = j.from
	if j.agreed {
		runner.Content = j.content
	}
	return runner
}

// actions are those that this program runs.
func (j *pipelineRun) actions() map[string]rollout.Action {
	clock := clock.RealClock{}
	actions, deploy := j.programActions(), j.deployAction()
	registries := registryAccess{cloud: j.cloud, pass: j.plan.Inputs.Pass}
	maps.Copy(actions, map[string]rollout.Action{
		pipeline.ActionShell: &command.Action{
			Folder: j.plan.File.Folder(), Environment: j.app.environment, Pass: j.plan.Inputs.Pass,
			Grace: j.plan.Inputs.Grace, Clock: clock, Kubeconfig: deploy.kubeconfig,
		},
		pipeline.ActionRunbook: &runbookAction{app: j.app, kept: j.kept, cloud: j.cloud, pass: j.plan.Inputs.Pass},
		pipeline.ActionARM:     deploy,
		pipeline.ActionStack:   &stackAction{deploy},
		actionRegisterFeatures: &registerAction{
			deployAction: deploy, config: j.plan.File.Config(), read: registeredFeatures,
		},
		actionRegisterProviders: &registerAction{deployAction: deploy, read: registeredProviders},
		pipeline.ActionSoak:     rollout.Soak{Clock: clock},
		actionImageMirror: &mirrorAction{
			registryAccess: registries, app: j.app, kept: j.leased, folder: j.plan.File.Folder(),
		},
		actionHelm: &helmAction{
			app: j.app, kept: j.leased, cloud: j.cloud, folder: j.plan.File.Folder(), config: j.plan.File.Config(),
			subscription: deploy.subscription, charts: &registryCharts{registryAccess: registries, read: &j.charts},
		},
	})
	return actions
}

// programsFit is the guard that lets no pipeline begin whose programs this machine can't
// execute.
func (j *pipelineRun) programsFit() runbook.Guard {
	return programsFit(func(context.Context, runbook.Run) (examined, error) {
		fit := build.Fit
		if j.dryRun && !j.plan.Inputs.NoBuild {
			fit = build.FitBefore
		}
		found, err := fit(j.plan.File, program.Here(), rebuild(j.plan.File))
		if err != nil {
			return examined{Unfit: err.Error()}, nil
		}
		return examined{Examined: found.Examined, Host: program.Host().String(), Untold: found.Untold}, nil
	})
}

// examined is what was found of the programs that a pipeline's steps will execute.
type examined struct {
	Examined int `json:"examined"`
	// Host is the machine that executes them.
	Host string `json:"host"`
	// Untold are those of which nothing is known; Unfit is why one can't be executed, empty when all can.
	Untold []string `json:"untold"`
	Unfit  string   `json:"unfit"`
}

func programsFit(read func(context.Context, runbook.Run) (examined, error)) runbook.Guard {
	guard := runbook.Ask("programs-fit", "Can this machine execute every program that steps will execute?", read,
		examined.fit)
	guard.NotOverridable = true
	return guard
}

func (e examined) fit() runbook.Finding {
	if e.Unfit != "" {
		return runbook.No("%s", e.Unfit).WithOutcome(runbook.Failed)
	}
	able := fmt.Sprintf(" examined, and %s can execute ", e.Host)
	says := report.Count(e.Examined, "program was"+able+"it", "programs were"+able+"them")
	switch {
	case e.Examined == 0 && len(e.Untold) > 0:
		says = "no program was examined"
	case e.Examined == 0:
		says = "no step names a program to examine"
	}
	return runbook.Yes("%s", says+untold(build.Examination{Untold: e.Untold}))
}
