package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/graph"
	"salve/internal/pipeline/topology"
	"salve/internal/report"
)

// arguments are a pipeline, or none where a topology is named.
func (r *graphRequest) arguments(command *cobra.Command, arguments []string) error {
	switch {
	case len(r.topology) == 0 && (r.entrypoint != "" || r.steps):
		return usage("--entrypoint and --steps require --topology FILE")
	case len(r.topology) == 0:
		return oneArgument("the file of a pipeline")(command, arguments)
	case len(arguments) > 0:
		return usage("%s: a pipeline and --topology together: name one of them", command.CommandPath())
	case r.run != "" || r.timings != "":
		return usage("--run and --timings are for the graph of a pipeline, and not for --topology")
	}
	return nil
}

// paintTopology draws the service groups of a topology, or the steps of all of their pipelines.
func (a *app) paintTopology(asked *graphRequest) error {
	all, found, err := readTopology(asked.topology)
	if err != nil {
		return err
	}
	if found.Errors() > 0 && len(all.Roots) == 0 {
		return a.undrawable("the topology", found)
	}
	services, title := all.Services(), strings.Join(asked.topology, ", ")
	if asked.entrypoint != "" {
		first, known := all.Entry(asked.entrypoint)
		if !known {
			return unknownEntrypoint(all, asked.entrypoint)
		}
		services, title = first.Below(), first.ServiceGroup
	}
	files, wrong, err := a.drawnPipelines(asked, services)
	if err != nil {
		return err
	}
	if found = append(found, wrong...); len(pipeline.Undrawable(found)) > 0 {
		return a.undrawable("the topology", pipeline.Undrawable(found))
	}
	order, err := entrypoint.Order(services, files)
	var cycle *entrypoint.CycleError
	switch {
	case errors.As(err, &cycle):
		first, _ := all.Lookup(cycle.ServiceGroups[0])
		return a.undrawable("the topology", diagnostic.List{first.Problem("cycle", cycle.Error())})
	case err != nil:
		return err
	}
	a.besides(found, asked)
	picture := graph.Picture{Title: title, Measure: "by number of service groups", Services: true}
	if picture.Graph = entrypoint.Overview(all, services, files, order); asked.steps {
		picture.Graph, picture.Services = entrypoint.Steps(services, files, order), false
		picture.Measure = "by number of steps"
	}
	return a.printPicture(asked.form, picture)
}

// besides says that there are errors that have nothing to do with the graph, and how to see them.
func (a *app) besides(found diagnostic.List, asked *graphRequest) {
	if found.Errors() == 0 {
		return
	}
	words := []string{a.name(), "pipeline", "validate"}
	for _, file := range asked.topology {
		words = append(words, "--topology", file)
	}
	if asked.config != "" {
		words = append(words, "--config", asked.config)
	}
	fmt.Fprintf(a.stderr, "The topology and its pipelines have %s besides. To see more: %s\n",
		report.Count(found.Errors(), "error", "errors"), shell(words))
}

// undrawable says what keeps something from being drawn.
func (a *app) undrawable(what string, found diagnostic.List) error {
	a.exit = exitFailed
	fmt.Fprintf(a.stderr, "salve: %s can't be drawn before it is mended:\n", what)
	return diagnostic.Text(a.stderr, found)
}

// drawnPipelines reads the pipelines of service groups, as far as they are there. Those that aren't are said.
func (a *app) drawnPipelines(
	asked *graphRequest, services []*topology.Service,
) (map[string]*pipeline.File, diagnostic.List, error) {
	config, found, err := readConfig(asked.config)
	if err != nil {
		return nil, nil, err
	}
	files := map[string]*pipeline.File{}
	for _, service := range services {
		if _, err := os.Stat(service.Pipeline); service.Pipeline == "" || errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(a.stderr, "Service group %s is drawn without steps: its pipeline %s is not there.\n",
				diagnostic.Printable(service.ServiceGroup), diagnostic.Printable(service.Named.Value))
			continue
		}
		own, err := readSitesActions(asked.programs, service.Pipeline)
		if err != nil {
			return nil, nil, err
		}
		file, wrong, err := readPipeline(service.Pipeline, own)
		if err != nil {
			return nil, nil, err
		}
		if found = append(found, wrong...); file == nil {
			return files, found, nil
		}
		file, wrong = pipeline.Validate(file, pipeline.Environment{Config: config, FileOnly: true})
		files[service.ServiceGroup], found = file, append(found, wrong...)
	}
	return files, found, nil
}
