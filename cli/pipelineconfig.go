package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/configuration"
	"salve/internal/redact"
	"salve/internal/report"
)

func newPipelineConfig(a *app) *cobra.Command {
	command := parent("config", "Render the configuration of pipelines, and compare configurations")
	command.AddCommand(newPipelineConfigRender(a), newPipelineConfigDiff(a))
	return command
}

// contextFlags say where a configuration is rendered for, and with what.
type contextFlags struct {
	context    configuration.Context
	values     string
	overlays   []string
	skipSchema bool
}

func (f *contextFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.context.Cloud, "cloud", "", "`cloud` to render the configuration for")
	flags.StringVar(&f.context.Region, "region", "", "`region` of the environment")
	f.addOthers(flags)
}

// addRunFlags are those of a run, whose --cloud says in which Azure it acts.
func (f *contextFlags) addRunFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.context.Cloud, "config-cloud", "",
		"`cloud` to render the configuration for (default: that of --cloud)")
	flags.StringVar(&f.context.Region, "region", "", "`region` to render the configuration for, and in which missing "+
		"resource groups are created (default of the latter: what region is in the configuration)")
	f.addOthers(flags)
}

func (f *contextFlags) addOthers(flags *pflag.FlagSet) {
	flags.StringVar(&f.context.Environment, "environment", "", "`environment` of the cloud")
	f.addRest(flags)
}

// addRest are the flags besides those of the place itself.
func (f *contextFlags) addRest(flags *pflag.FlagSet) {
	flags.StringVar(&f.context.RegionShort, "region-short", "",
		"what names have for the `region` (default: ev2.regionShortName of the values)")
	flags.StringVar(&f.context.Stamp, "stamp", "1", "`number` of the stamp")
	flags.StringVar(&f.values, "values", "", "`FILE` with what templates lead to besides .ctx, such as ev2: {…}")
	flags.StringArrayVar(&f.overlays, "overlay", nil, "`FILE` to lay over the configuration before (repeatable)")
	flags.BoolVar(&f.skipSchema, "skip-schema-validation", false,
		"don't validate the configuration by the JSON schema that it names")
}

// complete refuses a place that isn't one, and reads the values.
func (f *contextFlags) complete() error {
	err := required(
		given{Flag{Name: "cloud", Example: "public"}, f.context.Cloud},
		given{Flag{Name: "environment", Example: "int"}, f.context.Environment},
		given{Flag{Name: "region", Example: "westeurope"}, f.context.Region},
	)
	if err != nil {
		return err
	}
	return f.readValues()
}

// readValues reads what templates lead to besides the place.
func (f *contextFlags) readValues() error {
	if f.values == "" {
		return nil
	}
	values, err := configuration.ReadValues(f.values)
	if err != nil {
		return usage("--values: %v", err)
	}
	f.context.Values = values
	return nil
}

// rendered renders a configuration and validates it. It is nil, and what is wrong has been said, where something is.
func (a *app) rendered(asked *contextFlags, path string) (*configuration.Rendered, error) {
	rendered, found, err := configuration.Render(asked.context, path, asked.overlays...)
	if err != nil {
		return nil, usage("%v", err)
	}
	if rendered != nil {
		if err := diagnostic.Text(a.stderr, rendered.Warnings); err != nil {
			return nil, err
		}
	}
	if rendered != nil && rendered.Schema != "" && !asked.skipSchema {
		if found, err = rendered.Validate(path, rendered.Schema); err != nil {
			return nil, usage("%v. hint: --skip-schema-validation", err)
		}
	}
	if len(found) > 0 {
		a.exit = exitFailed
		return nil, diagnostic.Text(a.stderr, found)
	}
	if rendered.Everywhere {
		fmt.Fprintf(a.stderr, "%s has nothing of its own for region %s.\n", path, asked.context.Region)
	}
	return rendered, nil
}

func newPipelineConfigRender(a *app) *cobra.Command {
	asked := &contextFlags{}
	command := &cobra.Command{
		Use: "render FILE", Short: "Print a configuration as it is in a cloud, an environment and a region",
		Long: `Render fills in the templates of a configuration, lays the values of the cloud, the environment and
the region over those that hold everywhere, validates what comes of it by the JSON schema that the
file names, and prints it as YAML. Templates lead to .ctx, the place, and to what --values gives.

Exit codes: 0 printed; 1 something is wrong with the configuration; 2 wrong usage.`,
		Example: `  salve pipeline config render config.yaml --cloud public --environment int --region uksouth \
    --values ev2.yaml >rendered.yaml
  salve pipeline validate pipeline.yaml --config rendered.yaml`,
		Args: oneArgument("the file of a configuration"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			if err := asked.complete(); err != nil {
				return err
			}
			rendered, err := a.rendered(asked, arguments[0])
			if err != nil || rendered == nil {
				return err
			}
			text, err := rendered.YAML()
			if err != nil {
				return fmt.Errorf("printing the configuration: %w", err)
			}
			_, err = a.stdout.Write(text)
			return err
		},
	}
	asked.addFlags(command.Flags())
	return command
}

func newPipelineConfigDiff(a *app) *cobra.Command {
	asked, form := &contextFlags{}, ""
	forms := []string{"text", "json"}
	command := &cobra.Command{
		Use: "diff FILE OTHER", Short: "Say in which values two configurations differ",
		Long: `Diff compares two configurations, value by value. One that isn't rendered yet is rendered first, for
the cloud, the environment and the region of the flags.

Exit codes: 0 they are the same; 1 they differ, or something is wrong with one; 2 wrong usage.`,
		Example: `  # What a change does to the configuration of a region
  git show main:config.yaml >before.yaml
  salve pipeline config diff before.yaml config.yaml --cloud public --environment int --region uksouth
  # Whether the file that was rendered is still what is rendered now
  salve pipeline config diff rendered.yaml config.yaml --cloud public --environment int --region uksouth`,
		Args: func(command *cobra.Command, arguments []string) error {
			if len(arguments) != 2 {
				return usage("%s requires two files of configurations", command.CommandPath())
			}
			return checkForm(form, forms...)
		},
		RunE: func(_ *cobra.Command, arguments []string) error {
			return a.diffConfigs(asked, form, arguments[0], arguments[1])
		},
	}
	asked.addFlags(command.Flags())
	outputFlag(command.Flags(), &form, forms...)
	return command
}

// differencesDocument is what salve pipeline config diff found.
type differencesDocument struct {
	report.Document
	Exit        int                        `json:"exitCode"`
	Differences []configuration.Difference `json:"differences"`
}

// diffConfigs says how two configurations differ.
func (a *app) diffConfigs(asked *contextFlags, form, path, other string) error {
	before, err := a.values(asked, path)
	if err != nil || before == nil {
		return err
	}
	after, err := a.values(asked, other)
	if err != nil || after == nil {
		return err
	}
	found, err := configuration.Differences(before, after)
	if err != nil {
		return fmt.Errorf("comparing %s and %s: %w", path, other, err)
	}
	if len(found) > 0 {
		a.exit = exitFailed
	}
	if form == "json" {
		return a.document(differencesDocument{
			report.NewDocument("configuration-differences"), a.exit, append([]configuration.Difference{}, found...),
		})
	}
	for _, one := range found {
		fmt.Fprintln(a.stdout, diagnostic.Printable(string(redact.Redact([]byte(difference(one))))))
	}
	_, err = fmt.Fprintf(a.stdout, "%s.\n", report.Count(len(found), "difference", "differences"))
	return err
}

// difference is one line.
func difference(of configuration.Difference) string {
	before, after := diagnostic.Bounded(string(of.Before)), diagnostic.Bounded(string(of.After))
	switch {
	case before == "":
		return fmt.Sprintf("+ %s: %s", of.Path, after)
	case after == "":
		return fmt.Sprintf("- %s: %s", of.Path, before)
	}
	return fmt.Sprintf("~ %s: %s → %s", of.Path, before, after)
}

// values are those of a configuration, which is rendered first where that has to be done.
func (a *app) values(asked *contextFlags, path string) (map[string]any, error) {
	unrendered, err := configuration.IsUnrendered(path)
	if err != nil {
		return nil, usage("%v", err)
	}
	if !unrendered {
		values, err := configuration.ReadValues(path)
		if err != nil {
			return nil, usage("%v", err)
		}
		return values, nil
	}
	if err := asked.complete(); err != nil {
		return nil, err
	}
	rendered, err := a.rendered(asked, path)
	if err != nil || rendered == nil {
		return nil, err
	}
	return rendered.Values, nil
}
