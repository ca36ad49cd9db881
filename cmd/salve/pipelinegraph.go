package main

import (
	"errors"
	"fmt"
	"io"

	"time"

	"github.com/spf13/cobra"

	"salve/pipeline"
	"salve/pipeline/diagnostic"
	"salve/pipeline/graph"
)

// painting is what a person asked of salve pipeline graph.
type painting struct {
	config  string
	timings string
	form    string
}

// painters are the forms in which a graph is printed.
var painters = map[string]func(io.Writer, graph.Picture) error{
	"text": func(w io.Writer, p graph.Picture) error { return graph.Text(w, p, 80) },
	"dot":  graph.DOT, "mermaid": graph.Mermaid, "svg": graph.SVG,
}

func newPipelineGraph(a *app) *cobra.Command {
	asked := &painting{}
	forms := []string{"text", "dot", "mermaid", "svg"}
	command := &cobra.Command{
		Use: "graph FILE", Short: "Draw what a pipeline's steps wait for, and its critical path", Args: oneArgument("the file of a pipeline"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			if err := checkForm(asked.form, forms...); err != nil {
				return err
			}
			return a.paint(asked, arguments[0])
		},
	}
	outputFlag(command.Flags(), &asked.form, forms...)
	command.Flags().StringVar(&asked.config, "config", "", "`FILE` with the configuration that templates and configRefs lead to")
	command.Flags().StringVar(&asked.timings, "timings", "", "`FILE` with how long steps took, in YAML: fleet/cluster: 12m30s")
	return command
}

func (a *app) paint(asked *painting, path string) error {
	config, found, err := readConfig(asked.config)
	if err != nil {
		return err
	}
	file, wrong, err := readPipeline(path)
	if err != nil {
		return err
	}
	if found = append(found, wrong...); file != nil {
		file, wrong = pipeline.Validate(file, pipeline.Surroundings{Config: config, FileOnly: true})
		found = append(found, wrong...)
	}
	if found.Errors() > 0 {
		a.exit = exitFailed
		fmt.Fprintln(a.stderr, "salve: the pipeline can't be drawn before it is mended:")
		return diagnostic.Text(a.stderr, found)
	}
	picture, err := pictureOf(file, asked.timings)
	if err != nil {
		return err
	}
	var large *graph.TooLargeError
	if err := painters[asked.form](a.stdout, picture); errors.As(err, &large) {
		return usage("%v", err)
	} else if err != nil {
		return fmt.Errorf("printing the graph: %w", err)
	}
	return nil
}

func pictureOf(file *pipeline.File, timings string) (graph.Picture, error) {
	picture := graph.Picture{Title: file.RolloutName.Value + " (" + file.ServiceGroup.Value + ")", Graph: file.Graph()}
	took := map[string]time.Duration{}
	if timings != "" {
		recorded, err := pipeline.ReadTimings(timings)
		if err != nil {
			return picture, usage("--timings: %v", err)
		}
		took = recorded
	}
	picture.Took, picture.Measure = file.Weights(took)
	return picture, nil
}
