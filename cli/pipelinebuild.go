package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/build"
	"salve/internal/pipeline/program"
	"salve/internal/report"
)

// buildRequest is what the user asked of salve pipeline build.
type buildRequest struct {
	platform string
	anew     bool
	// programs are those that run actions, as NAME=PROGRAM.
	programs []string
}

func newPipelineBuild(a *app) *cobra.Command {
	asked := &buildRequest{}
	command := &cobra.Command{
		Use: "build FILE", Short: "Build what a pipeline's steps execute, for the machine that will run them",
		Long: `Build runs the pipeline's build step in its folder, for this machine or for
--platform, and then examines every program that a Shell step will execute. A build
that fails or is killed leaves the programs that were there. Nothing is built when
neither the inputs nor the outputs changed.

GOOS, GOARCH and the like in the environment are not passed on: a machine that was
once set up for another platform would build programs that it can't execute.

Exit codes: 0 built, or nothing had changed; 1 the build failed, or the machine
can't execute what came of it; 2 wrong usage.`,
		Example: `  # For the machine that will run the pipeline
  salve pipeline build pipeline.yaml --platform linux/amd64`,
		Args: oneArgument("the file of a pipeline"),
		RunE: func(command *cobra.Command, arguments []string) error {
			return a.buildPipeline(command.Context(), asked, arguments[0])
		},
	}
	command.Flags().StringVar(&asked.platform, "platform", "",
		"build for this `OS/ARCH`, such as linux/amd64 (default: this machine)")
	command.Flags().BoolVar(&asked.anew, "no-cache", false, "build also when nothing changed")
	programFlag(command.Flags(), &asked.programs)
	return command
}

// buildDocument is what salve pipeline build built.
type buildDocument struct {
	report.Document
	Cached   bool     `json:"cached"`
	Platform string   `json:"platform"`
	Programs []string `json:"programs"`
	Untold   []string `json:"untold,omitempty"`
	Took     float64  `json:"tookSeconds"`
}

func (a *app) buildPipeline(parent context.Context, asked *buildRequest, path string) error {
	own, err := readSitesActions(asked.programs, path)
	if err != nil {
		return err
	}
	file, err := a.parsed(path, own)
	if err != nil || file == nil {
		return err
	}
	order, err := a.order(file, asked.anew)
	if err != nil {
		return err
	}
	machine := program.Here()
	if asked.platform != "" {
		if order.Platform, err = program.ParsePlatform(asked.platform); err != nil {
			return usage("--platform: %v", err)
		}
		machine = program.There(order.Platform)
	}
	order.Machine = machine
	ctx, done := interruptible(parent, func(line string) { fmt.Fprintln(a.stderr, line) }, nil)
	defer done()
	made, err := a.build(ctx, order)
	if err != nil {
		return a.unfit(err)
	}
	found, err := build.Fit(file, machine, rebuild(file))
	if err != nil {
		return a.unfit(err)
	}
	says := fmt.Sprintf("%s; %s fit for %s%s.",
		builtIn(made), report.Count(found.Examined, "program is", "programs are"), machine.Platform, untold(found))
	if !a.json() {
		_, err := fmt.Fprintln(a.stdout, says)
		return err
	}
	fmt.Fprintln(a.stderr, says)
	return a.document(buildDocument{
		report.NewDocument("build"), made.Cached, machine.Platform.String(), append([]string{}, made.Made...),
		found.Untold, made.Took.Seconds(),
	})
}

// untold says of which programs nothing is known.
func untold(found build.Examination) string {
	if len(found.Untold) == 0 {
		return ""
	}
	const shown = 3
	named := strings.Join(found.Untold[:min(shown, len(found.Untold))], "; ")
	if more := len(found.Untold) - shown; more > 0 {
		named += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("; %d can't be told before the steps run (%s)", len(found.Untold), named)
}

// parsed reads a pipeline, and says what is wrong with it. The file is nil then.
func (a *app) parsed(path string, own sitesActions) (*pipeline.File, error) {
	file, found, err := readPipeline(path, own)
	if err != nil || found.Errors() == 0 {
		return file, err
	}
	return nil, a.mend(found)
}

// mend says what is wrong with a pipeline that can't be used as it is.
func (a *app) mend(found diagnostic.List) error {
	a.exit = exitFailed
	fmt.Fprintln(a.stderr, "salve: the pipeline can't be used before it is mended:")
	return diagnostic.Text(a.stderr, found)
}

// order is what is to be built of a file.
func (a *app) order(file *pipeline.File, anew bool) (build.Order, error) {
	state, err := a.stateFolder("build")
	if err != nil {
		return build.Order{}, err
	}
	return build.Order{
		File: file, Anew: anew, Environment: a.environment, Output: a.stderr, State: state, Clock: clock.RealClock{},
	}, nil
}

// build builds what there is to build.
func (a *app) build(ctx context.Context, order build.Order) (build.Report, error) {
	if order.File.BuildStep == nil {
		return build.Report{}, nil
	}
	made, err := build.Run(ctx, order)
	if len(made.Dropped) > 0 {
		fmt.Fprintf(order.Output, "Not passed on to the build, because it would force another platform: %s. "+
			"--platform builds for another one.\n", strings.Join(made.Dropped, " "))
	}
	return made, err
}

func builtIn(made build.Report) string {
	switch {
	case made.Cached:
		return "Nothing had changed since the last build"
	case len(made.Made) == 0 && made.Took == 0:
		return "There is no build step"
	}
	return fmt.Sprintf("Built in %.1fs", made.Took.Seconds())
}

// rebuild is the command that mends programs of another platform.
func rebuild(file *pipeline.File) string {
	if file.BuildStep == nil {
		return ""
	}
	return shell([]string{"salve", "pipeline", "build", file.Path})
}

// unfit prints each program that the machine can't execute on a line of its own.
func (a *app) unfit(err error) error {
	var misfit *build.MisfitError
	if !errors.As(err, &misfit) || a.json() {
		return err
	}
	a.exit = exitFailed
	for _, problem := range misfit.Problems {
		if _, err := io.WriteString(a.stderr, "salve: "+problem.Error()+"\n"); err != nil {
			return err
		}
	}
	if misfit.Restored {
		_, err = io.WriteString(a.stderr, "The programs are as they were before the build.\n")
		return err
	}
	return nil
}
