package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/pipeline"
	"salve/pipeline/diagnostic"
)

func newPipeline(a *app) *cobra.Command {
	command := parent("pipeline", "Validate, draw, build and run rollout pipelines")
	command.AddCommand(newPipelineValidate(a), newPipelineGraph(a), newPipelineBuild(a), newPipelineRun(a))
	return command
}

// outputFlag gives a command an --output of its own in place of that of all
// commands; the first form is the default.
func outputFlag(flags *pflag.FlagSet, form *string, forms ...string) {
	flags.StringVar(form, "output", forms[0], "how to print the answer: "+orList(forms))
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

// surroundings are what pipelines are judged by on this machine.
func surroundings(config *pipeline.Config, fileOnly bool) pipeline.Surroundings {
	return pipeline.Surroundings{Config: config, FileOnly: fileOnly, LookPath: exec.LookPath, Runbooks: budgets()}
}

// budgets are the runbooks that there are, with the budget that each has unless it
// is given another; 0 is none.
func budgets() map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, offered := range offers() {
		flags := pflag.NewFlagSet(offered.name(), pflag.ContinueOnError)
		offered.addFlags(&request{}, flags)
		budget := time.Duration(0)
		if flag := flags.Lookup("budget"); flag != nil {
			budget, _ = time.ParseDuration(flag.DefValue) // 0 is none
		}
		all[offered.name()] = budget
	}
	return all
}

// readPipeline reads a pipeline that a command line names.
func readPipeline(path string) (*pipeline.File, diagnostic.List, error) {
	file, found, err := pipeline.Read(path)
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
