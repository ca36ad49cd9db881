package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/internal/pipeline/process"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

// Action runs Shell steps.
type Action struct {
	// Folder is the pipeline's.
	Folder string
	// Environment is what the runner has, as NAME=value; Pass names what of it
	// steps get besides what every program needs.
	Environment []string
	Pass        []string
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration
	Clock clock.Clock
	// Kubeconfig gives what leads to the cluster that a step names; nil where nothing does.
	Kubeconfig func(ctx context.Context, step *pipeline.Step) ([]byte, error)
}

// Capabilities say nothing: what became of a command that was cut off can't be seen.
func (a *Action) Capabilities() rollout.Capabilities { return rollout.Capabilities{} }

// clusterVariable leads to a cluster.
const clusterVariable = "KUBECONFIG"

// Check finds what keeps the step from being run here.
func (a *Action) Check(_ context.Context, step *pipeline.Step) error {
	if _, err := exec.LookPath("bash"); err != nil {
		return fmt.Errorf("it needs bash: %w", err)
	}
	if a.asksForCluster(step) && a.Kubeconfig == nil {
		return fmt.Errorf("it wants access to cluster %s: --pass %s gives it the one that leads there",
			step.Shell.AKSCluster.Value, clusterVariable)
	}
	info, err := os.Stat(a.folder(step))
	switch {
	case err != nil:
		return fmt.Errorf("its working folder: %w", err)
	case !info.IsDir():
		return fmt.Errorf("its working folder %s is no folder", a.folder(step))
	}
	return nil
}

// asksForCluster tells whether a step is to be led to a cluster, other than by what is passed on.
func (a *Action) asksForCluster(step *pipeline.Step) bool {
	return step.Shell.AKSCluster.Value != "" && !slices.Contains(a.Pass, clusterVariable)
}

func (a *Action) folder(step *pipeline.Step) string {
	return filepath.Join(a.Folder, step.Shell.WorkingDir.Value)
}

// mark is carried by all processes of a step of a run.
func mark(run string, step pipeline.StepID) string { return run + "/" + step.String() }

// Clear ends the processes that an attempt of a killed runner has left.
func (a *Action) Clear(ctx context.Context, run string, step pipeline.StepID) (string, error) {
	ended, err := process.EndMarked(ctx, a.Clock, mark(run, step), a.Grace)
	return process.List(ended), err
}

// Run runs the step's command.
func (a *Action) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	outcome, _, err := a.run(ctx, attempt, attempt.Step.Shell.Command.Value, attempt.Variables)
	if err != nil {
		return rollout.Outcome{Result: journal.Failure, Refused: true, Reason: err.Error()}
	}
	return outcome
}

// run gives an error when the command could not be started.
func (a *Action) run(ctx context.Context, attempt *rollout.Attempt, text string,
	variables []rollout.Variable) (outcome rollout.Outcome, ending process.Exit, err error) {
	workspace, err := newWorkspace()
	if err != nil {
		return outcome, ending, err
	}
	defer func() {
		if err := workspace.clear(); err != nil {
			outcome.Reason = also(outcome.Reason, err.Error())
		}
	}()
	if err := a.leadToCluster(ctx, attempt.Step, workspace); err != nil {
		return outcome, ending, err
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		return outcome, ending, err
	}
	out := newListener(attempt)
	ending, err = process.Command{
		Path: bash, Arguments: []string{"-o", "errexit", "-o", "nounset", "-o", "pipefail", "-c", text},
		Folder:      a.folder(attempt.Step),
		Environment: a.environment(attempt, variables, workspace), Stdout: out.stdout(), Stderr: out.stderr(),
		Mark: mark(attempt.Run, attempt.Step.ID()), Grace: a.Grace, Clock: a.Clock,
	}.Run(ctx)
	if err != nil {
		return outcome, ending, err
	}
	made, unread := workspace.read()
	outcome = rollout.Outcome{Result: journal.Failure, Reason: ending.String(), Said: out.end()}
	switch {
	case !ending.ByItself():
		outcome.Result, outcome.Reason = journal.Unknown, "it was cut off: "+ending.String()
	case ending.Code != 0:
		outcome.Reason += out.lastLine(func(line string) string { return attempt.Mask(line, secrets(made)...) })
	default:
		if unread == nil {
			outcome.Outputs, unread = made, sayAloud(attempt, made, out)
		}
		outcome.Result, outcome.Reason = journal.Done, ""
		if unread != nil {
			outcome.Result, outcome.Unread, outcome.Outputs = journal.Unknown, unread, nil
		}
	}
	outcome.Reason = also(outcome.Reason, problems(ending, out)...)
	return outcome, ending, nil
}

// leadToCluster writes the kubeconfig of the cluster that a step names into the attempt's own folder, which is removed
// when the attempt ends.
func (a *Action) leadToCluster(ctx context.Context, step *pipeline.Step, workspace *workspace) error {
	if !a.asksForCluster(step) {
		return nil
	}
	kubeconfig, err := a.Kubeconfig(ctx, step)
	if err == nil {
		err = os.WriteFile(workspace.kubeconfig(), kubeconfig, 0o600)
	}
	if err != nil {
		return fmt.Errorf("access to cluster %s: %w; hint: --pass %s passes on another way there",
			step.Shell.AKSCluster.Value, err, clusterVariable)
	}
	return nil
}

// problems is what went wrong around a command, and did not decide what became of it.
func problems(ending process.Exit, out *listener) []string {
	var all []string
	if err := errors.Join(out.unlogged, ending.Unheard); err != nil {
		all = append(all, "its log is not complete: "+err.Error())
	}
	if len(ending.Left) > 0 {
		all = append(all, "it left running what could not be ended: "+process.List(ending.Left))
	}
	return all
}

// also adds to a reason.
func also(reason string, more ...string) string {
	return strings.TrimPrefix(strings.Join(append([]string{reason}, more...), "; "), "; ")
}

// secrets are what a step itself has made secret.
func secrets(made map[string]rollout.Output) []string {
	var texts []string
	for _, output := range made {
		if secret, ok := output.Value.(string); ok && output.Secret {
			texts = append(texts, secret)
		}
	}
	return texts
}

// sayAloud adds to what the step wrote into its files all that it said, under the names that are wanted and not there.
func sayAloud(attempt *rollout.Attempt, made map[string]rollout.Output, out *listener) error {
	names := slices.DeleteFunc(aloud(attempt), func(name string) bool { _, written := made[name]; return written })
	if len(names) == 0 {
		return nil
	}
	text, err := out.whole(len(names))
	secret := slices.ContainsFunc(names, rollout.NamesSecret) // by one of its names, and so by all
	for _, name := range names {
		made[name] = rollout.Output{Value: text, Secret: secret}
	}
	return err
}

// Preview runs the step's own variant that changes nothing, where it has one.
func (a *Action) Preview(ctx context.Context, attempt *rollout.Attempt) (string, error) {
	dry := attempt.Step.Shell.DryRun
	if dry == nil {
		return "runs: " + firstLine(attempt.Step.Shell.Command.Value), nil
	}
	text := dry.Command.Value
	if text == "" {
		text = attempt.Step.Shell.Command.Value
	}
	variables := slices.Clone(attempt.Variables)
	for _, variable := range dry.Variables {
		variables = append(variables, rollout.Variable{Name: variable.Name.Value, Value: variable.Literal})
	}
	outcome, _, err := a.run(ctx, attempt, text, variables)
	switch {
	case err != nil:
	case outcome.Unread != nil:
		err = fmt.Errorf("its dry run: its outputs can't be read: %w", outcome.Unread)
	case outcome.Result != journal.Done:
		err = fmt.Errorf("its dry run: %s", outcome.Reason)
	}
	return strings.TrimSpace("its dry run says: " + outcome.Said), err
}

func firstLine(text string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		first += " …"
	}
	return first
}

// environment is all that a step gets. Its own variables come last, and win.
func (a *Action) environment(attempt *rollout.Attempt, variables []rollout.Variable, workspace *workspace) []string {
	environment := []string{"HOME=" + workspace.home(), "SALVE_RUN=" + attempt.Run,
		"SALVE_STEP=" + attempt.Step.ID().String()}
	environment = append(environment, workspace.variables()...)
	environment = append(environment, process.Inherited(a.Environment, a.Pass)...)
	environment = append(environment, places(attempt.Step)...)
	if a.asksForCluster(attempt.Step) {
		environment = append(environment, clusterVariable+"="+workspace.kubeconfig())
	}
	for _, one := range variables {
		environment = append(environment, one.Name+"="+one.Text())
	}
	return environment
}

// places are where the step acts, by the variables that rollout tools give: the subscription only by its ID, as there.
func places(step *pipeline.Step) []string {
	all := []string{"ResourceGroup=" + step.Group.ResourceGroup.Value}
	if named := step.Group.Subscription.Value; subscriptionID.MatchString(named) {
		all = append(all, "Subscription="+named)
	}
	if cluster := step.Shell.AKSCluster.Value; cluster != "" {
		all = append(all, "AKSCluster="+cluster)
	}
	return all
}

var subscriptionID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// workspace is a folder of an attempt's own: a home without anybody's credentials, and
// the files in which it hands on outputs.
type workspace struct{ folder string }

func newWorkspace() (*workspace, error) {
	folder, err := os.MkdirTemp("", "salve-step-")
	if err != nil {
		return nil, fmt.Errorf("making room for a step: %w", err)
	}
	return &workspace{folder}, os.Mkdir(filepath.Join(folder, "home"), 0o700)
}

func (d *workspace) home() string { return filepath.Join(d.folder, "home") }

func (d *workspace) kubeconfig() string { return filepath.Join(d.folder, "kubeconfig") }

func (d *workspace) variables() []string {
	return []string{"SALVE_OUTPUT=" + filepath.Join(d.folder, "output"),
		"SALVE_SECRET_OUTPUT=" + filepath.Join(d.folder, "secret")}
}

func (d *workspace) clear() error {
	// What a step made read-only, as module caches are, is made writable first.
	_ = filepath.WalkDir(d.folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // G302: it is a folder
		}
		return nil
	})
	return os.RemoveAll(d.folder)
}

// read gives the outputs that the step wrote.
func (d *workspace) read() (map[string]rollout.Output, error) {
	made := map[string]rollout.Output{}
	for file, isSecret := range map[string]bool{"output": false, "secret": true} {
		raw, err := readBounded(filepath.Join(d.folder, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the step's outputs: %w", err)
		}
		values, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("the step's outputs: %w", err)
		}
		for name, value := range values {
			if _, twice := made[name]; twice {
				return nil, fmt.Errorf("the step's outputs: %q is given as a secret and not as one", name)
			}
			made[name] = rollout.Output{Value: value, Secret: isSecret}
		}
	}
	return made, nil
}
