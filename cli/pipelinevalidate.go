package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/changedfiles"
	"salve/internal/report"
)

// validateRequest is what the user asked of salve pipeline validate.
type validateRequest struct {
	config       string
	changedSince string
	root         string
	topologies   []string
	fileOnly     bool
	anyTemplates bool
	form         string
	// programs are those that run actions, as NAME=PROGRAM.
	programs []string
}

func newPipelineValidate(a *app) *cobra.Command {
	asked := &validateRequest{}
	forms := []string{"text", "json", "sarif"}
	command := &cobra.Command{
		Use: "validate FILE…", Short: "Say everything that is wrong with pipelines, and change nothing",
		Long: `Validate checks pipelines against their schema and for what a schema cannot express: cycles,
inputs that aren't there yet, programs that are missing, times that can't work.
With --topology and no files, it checks all pipelines of the topology.

Exit codes: 0 nothing is wrong, or only what is a warning; 1 something is; 2 wrong usage.`,
		Example: `  # Say all that is wrong with a pipeline
  salve pipeline validate pipeline.yaml --config config.yaml
  # In a pull request: those that changed, for the host's code scanning
  salve pipeline validate pipelines/a.yaml pipelines/b.yaml --changed-since origin/main --output sarif`,
		Args: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 && len(asked.topologies) == 0 {
				return usage("%s requires the files of pipelines, or --topology", command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := checkForm(asked.form, forms...); err != nil {
				return err
			}
			return a.validate(command.Context(), asked, arguments)
		},
	}
	flags := command.Flags()
	outputFlag(flags, &asked.form, forms...)
	flags.StringVar(&asked.config, "config", "", "`FILE` with the configuration that templates and configRefs lead to")
	flags.StringVar(&asked.changedSince, "changed-since", "",
		"validate only pipelines that changed since this `REF`, by what git says")
	flags.StringArrayVar(&asked.topologies, "topology", nil,
		"`FILE` with the service groups that pipelines may wait for (repeatable)")
	rootFlag(flags, &asked.root)
	programFlag(flags, &asked.programs)
	flags.BoolVar(&asked.fileOnly, "file-only", false,
		"don't look for the files and programs that pipelines name: their folder is not here")
	flags.BoolVar(&asked.anyTemplates, "skip-bicepparam-validation", false,
		"don't warn of templates in .bicepparam files that are more than a path")
	return command
}

// rootFlag is the flag for the folder that steps may work in.
func rootFlag(flags *pflag.FlagSet, root *string) {
	flags.StringVar(root, "root", "",
		"`folder` that steps may work in (default: the repository's, or else the pipeline's)")
}

func (a *app) validate(ctx context.Context, asked *validateRequest, paths []string) error {
	config, found, err := readConfig(asked.config)
	if err != nil {
		return err
	}
	services, wrong, err := readTopology(asked.topologies)
	if err != nil {
		return err
	}
	found = append(found, wrong...)
	if len(paths) == 0 {
		paths = pipelinesOf(services.Services())
	}
	checked, err := a.validateEach(ctx, asked, paths, config)
	if err != nil {
		return err
	}
	found = append(found, checked.found...)
	found = append(found, misnamed(checked.outlines, services)...)
	found = append(found, validateTogether(checked.outlines, services)...)
	found.Sort()
	found = slices.Compact(found) // files may share another one, with the same step
	if found.Errors() > 0 {
		a.exit = exitFailed
	}
	return a.found(ctx, asked, found, verdict(asked, len(paths), checked.count, found))
}

// validated is what came of validating files.
type validated struct {
	// outlines are all that is kept of them: what one of them says is dropped before the next one is read.
	outlines []*pipeline.Outline
	found    diagnostic.List
	// count is how many were validated, those that are no pipelines among them.
	count int
}

// validateEach validates files, each for itself.
func (a *app) validateEach(
	ctx context.Context, asked *validateRequest, paths []string, config *pipeline.Config,
) (done validated, err error) {
	changes := changes{ref: asked.changedSince, repositories: map[string]*changedfiles.Since{}}
	environment := a.environmentOf(config, asked.fileOnly)
	environment.Root, environment.AnyTemplates = asked.root, asked.anyTemplates
	defer compactHeap()()
	for _, path := range paths {
		own, err := readSitesActions(asked.programs, path)
		if err != nil {
			return done, err
		}
		file, wrong, err := readPipeline(path, own)
		if err != nil {
			return done, err
		}
		changed, err := changes.of(ctx, file, config)
		if err != nil {
			return done, err
		}
		if !changed {
			continue
		}
		done.count++
		done.found = append(done.found, wrong...)
		if file == nil {
			continue
		}
		if !asked.fileOnly {
			environment.Programs = own.program
		}
		file, more := pipeline.Validate(file, environment)
		done.outlines, done.found = append(done.outlines, file.Outline()), append(done.found, more...)
		if config != nil {
			sound := soundSteps(file, append(wrong, more...))
			done.found = append(done.found, deployable(ctx, file, sound, asked.fileOnly)...)
		}
	}
	return done, nil
}

// compactHeap collects garbage at two fifths of what is used rather than at all of it, as long as files are validated:
// nearly all that is read of a large one is garbage before the next. It costs time of the processor, and little of the
// clock's. Whoever sets GOGC has their way.
func compactHeap() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(40)
	return func() { debug.SetGCPercent(before) }
}

// changes looks which pipelines changed since a commit; without one all did.
type changes struct {
	ref          string
	repositories map[string]*changedfiles.Since
}

func (c changes) of(ctx context.Context, file *pipeline.File, config *pipeline.Config) (bool, error) {
	if c.ref == "" || file == nil {
		return true, nil
	}
	since := c.repositories[file.Folder()]
	if since == nil {
		asked, err := changedfiles.From(ctx, file.Folder(), c.ref)
		var unknown *changedfiles.RefError
		if errors.As(err, &unknown) {
			return false, usage("--changed-since: %v", err)
		}
		if err != nil {
			return false, fmt.Errorf("--changed-since: %w", err)
		}
		since, c.repositories[file.Folder()] = asked, asked
	}
	if config != nil {
		if _, changed := since.Reconfigures(ctx, file, config); changed {
			return true, nil
		}
		file, _ = file.Resolve(config)
	}
	_, changed := since.Touches(file)
	return changed, nil
}

func verdict(asked *validateRequest, given, validated int, found diagnostic.List) string {
	files := report.Count(validated, "pipeline", "pipelines")
	if asked.changedSince != "" {
		files = fmt.Sprintf("%d of %s changed since %s",
			validated, report.Count(given, "pipeline", "pipelines"), asked.changedSince)
	}
	errors, notes := found.Errors(), found.Count(diagnostic.Note)
	says := "nothing is wrong"
	if errors+notes < len(found) || errors > 0 {
		says = report.Count(errors, "error", "errors") + ", " +
			report.Count(len(found)-errors-notes, "warning", "warnings")
	}
	if notes > 0 {
		says += ", " + report.Count(notes, "note", "notes")
	}
	return files + ": " + says + "."
}

// diagnosticsDocument is what salve pipeline validate found.
type diagnosticsDocument struct {
	report.Document
	Exit        int             `json:"exitCode"`
	Says        string          `json:"says"`
	Diagnostics diagnostic.List `json:"diagnostics"`
}

// found prints what is wrong. Code scanning sees paths from the root of the
// repository.
func (a *app) found(ctx context.Context, asked *validateRequest, found diagnostic.List, says string) error {
	switch asked.form {
	case "json":
		fmt.Fprintln(a.stderr, says)
		return a.document(diagnosticsDocument{
			report.NewDocument("diagnostics"), a.exit, says, append(diagnostic.List{}, found...),
		})
	case "sarif":
		fmt.Fprintln(a.stderr, says)
		folder, err := folderOfWork()
		if err != nil {
			return err
		}
		return diagnostic.SARIF(a.stdout, found, pipeline.Rules,
			diagnostic.Log{Tag: "pipeline", Root: changedfiles.Root(ctx, folder), Version: builtFrom().Version})
	}
	if err := diagnostic.Text(a.stdout, found); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.stdout, says)
	return err
}
