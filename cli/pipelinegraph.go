package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/pipeline"
	"salve/internal/pipeline/graph"
	"salve/internal/pipeline/rollout"
	"salve/internal/pipeline/timeline"
	"salve/internal/report"
)

// graphRequest is what the user asked of salve pipeline graph.
type graphRequest struct {
	journalFlags
	config string
	// timings is a file, and run a run in the journal; at most one of them says how
	// long steps take.
	timings, run string
	form         string
	// programs are those that run actions, as NAME=PROGRAM.
	programs []string
	// topology are the files of one that is drawn instead of a pipeline, or of it what entrypoint names; steps draws the
	// steps of its pipelines, and not the service groups.
	topology   []string
	entrypoint string
	steps      bool
}

// printGraph writes a graph in one of the forms that --output has.
func printGraph(w io.Writer, form string, picture graph.Picture) error {
	switch form {
	case "dot":
		return graph.DOT(w, picture)
	case "mermaid":
		return graph.Mermaid(w, picture)
	case "svg":
		return graph.SVG(w, picture)
	}
	return graph.Text(w, picture, 80)
}

func newPipelineGraph(a *app) *cobra.Command {
	asked := &graphRequest{}
	forms := []string{"text", "dot", "mermaid", "svg"}
	command := &cobra.Command{
		Use:   "graph FILE | graph --topology FILE",
		Short: "Draw what the steps of a pipeline, or the service groups of a topology, wait for",
		Long: `Graph draws the steps in the order in which they can be run. The critical path is
the chain of steps that takes longest: by what a file or a run in the journal says
that they took; else by their timeouts, if each has one; else by their number.

With --topology it draws the service groups in the order in which they are rolled out, or with --steps the steps of all
of their pipelines as one graph. What steps wait for in other service groups is dashed.`,
		Example: `  # On the terminal, and as a picture
  salve pipeline graph pipeline.yaml
  salve pipeline graph pipeline.yaml --output svg > graph.svg
  # What is rolled out of a topology, and all of its steps
  salve pipeline graph --topology topology.yaml --entrypoint Region
  salve pipeline graph --topology topology.yaml --steps --output svg > steps.svg
  # With the times of a run, for its critical path
  salve pipeline graph pipeline.yaml --run 20261122-021300-4f1a2b --journal /srv/salve`,
		Args: asked.arguments,
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := checkForm(asked.form, forms...); err != nil {
				return err
			}
			if len(asked.topology) > 0 {
				return a.paintTopology(asked)
			}
			if asked.timings != "" && asked.run != "" {
				return usage("--timings and --run together: one of them says how long steps take")
			}
			return a.paint(command, asked, arguments[0])
		},
	}
	outputFlag(command.Flags(), &asked.form, forms...)
	command.Flags().StringVar(&asked.config, "config", "",
		"`FILE` with the configuration that templates and configRefs lead to")
	command.Flags().StringVar(&asked.timings, "timings", "",
		"`FILE` with how long steps took, in YAML: fleet/cluster: 12m30s")
	command.Flags().StringVar(&asked.run, "run", "", "`RUN` in the journal that shows how long steps took")
	command.Flags().StringArrayVar(&asked.topology, "topology", nil,
		"`FILE` of the topology to draw (repeatable)")
	command.Flags().StringVar(&asked.entrypoint, "entrypoint", "",
		"`NAME` of the entrypoint to draw: its identifier, or what people call it (default: all of the topology)")
	command.Flags().BoolVar(&asked.steps, "steps", false, "draw the steps of all pipelines of the topology")
	programFlag(command.Flags(), &asked.programs)
	asked.journalFlags.addFlags(command.Flags())
	return command
}

func (a *app) paint(command *cobra.Command, asked *graphRequest, path string) error {
	config, found, err := readConfig(asked.config)
	if err != nil {
		return err
	}
	own, err := readSitesActions(asked.programs, path)
	if err != nil {
		return err
	}
	file, wrong, err := readPipeline(path, own)
	if err != nil {
		return err
	}
	if found = append(found, wrong...); file != nil {
		file, wrong = pipeline.Validate(file, pipeline.Environment{Config: config, FileOnly: true})
		found = append(found, wrong...)
	}
	if undrawable := pipeline.Undrawable(found); len(undrawable) > 0 || file == nil {
		if file == nil {
			undrawable = found
		}
		return a.undrawable("the pipeline", undrawable)
	}
	if errors := found.Errors(); errors > 0 {
		fmt.Fprintf(a.stderr, "The pipeline has %s besides. To see more: %s\n",
			report.Count(errors, "error", "errors"), shell(validating(a.name(), path, asked.config)))
	}
	took, err := a.recorded(command, asked, file)
	if err != nil {
		return err
	}
	picture := graph.Picture{Title: file.RolloutName.Value + " (" + file.ServiceGroup.Value + ")", Graph: file.Drawn()}
	if picture.Took, picture.Measure = file.Weights(took); picture.Took != nil {
		outside := picture.Graph.Len() - len(picture.Took) // of which nobody knows how long they take
		picture.Took = append(picture.Took, make([]time.Duration, outside)...)
	}
	return a.printPicture(asked.form, picture)
}

// printPicture prints a graph, as far as it can be.
func (a *app) printPicture(form string, picture graph.Picture) error {
	var large *graph.TooLargeError
	if err := printGraph(a.stdout, form, picture); errors.As(err, &large) {
		return usage("%v", err)
	} else if err != nil {
		return fmt.Errorf("printing the graph: %w", err)
	}
	return nil
}

// validating is the command that validates a pipeline.
func validating(program, path, config string) []string {
	words := []string{program, "pipeline", "validate", path}
	if config != "" {
		words = append(words, "--config", config)
	}
	return words
}

// recorded is how long steps took, by what the user names; nil where that is
// nothing.
func (a *app) recorded(
	command *cobra.Command, asked *graphRequest, file *pipeline.File,
) (map[string]time.Duration, error) {
	switch {
	case asked.run != "":
		return a.lasted(command, asked, file)
	case asked.timings != "":
		took, err := pipeline.ReadTimings(asked.timings)
		if err != nil {
			return nil, usage("--timings: %v", err)
		}
		return took, nil
	}
	return nil, nil
}

// lasted is how long steps took in a run, and says of which of them that is not
// known.
func (a *app) lasted(
	command *cobra.Command, asked *graphRequest, file *pipeline.File,
) (map[string]time.Duration, error) {
	_, record, err := a.load(command, &asked.journalFlags, asked.run)
	if err != nil {
		return nil, err
	}
	inputs, err := rollout.InputsOf(record.Header)
	if err != nil {
		return nil, usage("--run: %v", err)
	}
	if own := file.ServiceGroup.Value; inputs.ServiceGroup != own {
		return nil, usage("--run %s: it is of the service group %s, and %s is of %s",
			asked.run, inputs.ServiceGroup, file.Path, own)
	}
	took, err := timeline.Took(record.History)
	if err != nil {
		return nil, &attentionError{fmt.Errorf("reading run %q: %w", asked.run, err)}
	}
	var unknown []string
	for _, step := range file.Steps() {
		if _, known := took[step.ID().String()]; !known {
			unknown = append(unknown, step.ID().String())
		}
	}
	switch {
	case len(unknown) == len(file.Steps()):
		return nil, usage("--run %s: it did none of the steps, so that nobody knows how long they take", asked.run)
	case len(unknown) > 0:
		fmt.Fprintf(a.stderr, "Not done by run %s, so that nobody knows how long it takes: %s.\n",
			asked.run, strings.Join(unknown, ", "))
	}
	return took, nil
}
