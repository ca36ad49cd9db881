package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

func newPipeline(a *app) *cobra.Command {
	command := parent("pipeline", "Validate, draw, build and run rollout pipelines")
	command.AddCommand(newPipelineValidate(a), newPipelineGraph(a), newPipelineBuild(a), newPipelineRun(a),
		newPipelineConfig(a))
	return command
}

// outputFlag gives a command an --output of its own in place of that of all
// commands; the first form is the default.
func outputFlag(flags *pflag.FlagSet, form *string, forms ...string) {
	flags.StringVarP(form, "output", "o", forms[0], "how to print the answer: "+orList(forms))
}

func checkForm(form string, forms ...string) error {
	if !slices.Contains(forms, form) {
		return usage("--output %q: it is %s", form, orList(forms))
	}
	return nil
}

func orList(items []string) string {
	text := items[0]
	for i, item := range items[1:] {
		if i == len(items)-2 {
			text += " or " + item
		} else {
			text += ", " + item
		}
	}
	return text
}

// readConfig reads the configuration that a flag names; it is nil without one.
func readConfig(path string) (*pipeline.Config, diagnostic.List, error) {
	if path == "" {
		return nil, nil, nil
	}
	config, found, err := pipeline.ReadConfig(path)
	if err != nil {
		return nil, nil, usage("--config: %v", err)
	}
	return config, found, nil
}

// environmentOf is what pipelines are validated against on this machine.
func (a *app) environmentOf(config *pipeline.Config, fileOnly bool) pipeline.Environment {
	return pipeline.Environment{
		Config: config, FileOnly: fileOnly, LookPath: exec.LookPath, Runbooks: a.pipelineRunbooks(),
		Fields: refusedFields(), Unread: unreadField,
	}
}

// pipelineRunbooks are the runbooks that there are, as pipelines see them.
func (a *app) pipelineRunbooks() map[string]pipeline.RegisteredRunbook {
	all := map[string]pipeline.RegisteredRunbook{}
	for _, entry := range a.entries() {
		_, flags := inputFlags(entry)
		one := pipeline.RegisteredRunbook{Refuses: func(input string, value any) error { return give(flags, input, value) }}
		flags.VisitAll(func(flag *pflag.Flag) { one.Inputs = append(one.Inputs, flag.Name) })
		if flag := flags.Lookup("budget"); flag != nil {
			one.Budget, _ = time.ParseDuration(flag.DefValue) // 0 is unknown
		}
		all[entry.name()] = one
	}
	return all
}

// inputFlags are a runbook's inputs, by the names that they have on the command line.
func inputFlags(of entry) (*request, *pflag.FlagSet) {
	asked, flags := &request{}, pflag.NewFlagSet(of.name(), pflag.ContinueOnError)
	of.addFlags(asked, flags)
	return asked, flags
}

// give sets an input to a value of a pipeline; of a list, where it takes several, to
// each of them.
func give(flags *pflag.FlagSet, input string, value any) error {
	values, several := value.([]any)
	if !several {
		values = []any{value}
	} else if _, ok := flags.Lookup(input).Value.(pflag.SliceValue); !ok {
		return errors.New("it is one value, and not a list")
	}
	for _, one := range values {
		err := flags.Set(input, pipeline.Value{Literal: one}.Plain())
		var refused *pflag.InvalidValueError
		if errors.As(err, &refused) {
			return refused.Unwrap()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readPipeline reads a pipeline that a command line names.
func readPipeline(path string, own sitesActions) (*pipeline.File, diagnostic.List, error) {
	file, found, err := pipeline.ReadWith(path, own.has)
	if err != nil {
		return nil, nil, usage("%v", err)
	}
	return file, found, nil
}

// folderOfWork is where paths in answers are seen from.
func folderOfWork() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working folder: %w", err)
	}
	return folder, nil
}
