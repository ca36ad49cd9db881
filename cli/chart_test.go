package cli

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"salve/internal/chart"
)

const chartFolder = "../deploy/helm/salve"

// chartRunbook is what the chart says of a runbook.
type chartRunbook struct {
	Watch    bool                `json:"watch"`
	Required []map[string]string `json:"required"`
}

type chartRunbooks struct {
	Runbooks  map[string]chartRunbook `json:"runbooks"`
	ProwWatch chartRunbook            `json:"prow-watch"`
}

func readChartRunbooks(t *testing.T) (known chartRunbooks) {
	t.Helper()
	raw, err := os.ReadFile(chartFolder + "/roles/runbooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(raw, &known); err != nil {
		t.Fatal(err)
	}
	return known
}

// TestChartKnowsTheRunbooks: what its templates refuse follows from the runbooks that the program has.
func TestChartKnowsTheRunbooks(t *testing.T) {
	known := readChartRunbooks(t)
	entries := map[string]entry{}
	for _, one := range (&app{program: Options{Runbooks: BuiltIn()}}).entries() {
		entries[one.name()] = one
	}
	for name, said := range known.Runbooks {
		one, is := entries[name]
		switch {
		case !is:
			t.Errorf("the program has no runbook %q", name)
		case one.watches() != said.Watch:
			t.Errorf("%s: watch is %v in the chart, and %v in the program", name, said.Watch, one.watches())
		}
		if got, want := chartFlags(said), programRequires(t, "check", name); !slices.Equal(got, want) {
			t.Errorf("%s: the chart requires %q, the program %q", name, got, want)
		}
		for _, flag := range said.Required {
			if unless := flag["unless"]; unless != "" {
				if got := programRequires(t, "check", name, "--"+unless, "x"); slices.Contains(got, "--"+flag["flag"]) {
					t.Errorf("%s requires --%s with --%s too", name, flag["flag"], unless)
				}
			}
		}
	}
	if got, want := chartFlags(known.ProwWatch), programRequires(t, "prow", "watch"); !slices.Equal(got, want) {
		t.Errorf("prow watch: the chart requires %q, the program %q", got, want)
	}
}

// TestChartOffersEachRunbookThatCanWatch, which would otherwise be forgotten when there is another one.
func TestChartOffersEachRunbookThatCanWatch(t *testing.T) {
	known := readChartRunbooks(t)
	for _, one := range (&app{program: Options{Runbooks: BuiltIn()}}).entries() {
		if _, offered := known.Runbooks[one.name()]; one.watches() && !offered {
			t.Errorf("the chart doesn't offer %s, which has check --watch", one.name())
		}
	}
}

// TestArgumentsOfTheChartAreUnderstood: the program has each flag that the templates write.
func TestArgumentsOfTheChartAreUnderstood(t *testing.T) {
	known := readChartRunbooks(t)
	for _, name := range slices.Sorted(maps.Keys(known.Runbooks)) {
		for _, command := range []string{"run", "check", "plan"} {
			understood(t, map[string]any{"runbook": name, "command": command, "events": map[string]any{"enabled": true},
				"args": chartArguments(known.Runbooks[name])})
		}
		if known.Runbooks[name].Watch {
			understood(t, map[string]any{"mode": "watch", "runbook": name, "args": chartArguments(known.Runbooks[name])})
		}
	}
	understood(t, map[string]any{"mode": "prow-watch", "args": chartArguments(known.ProwWatch),
		"prow": map[string]any{"jobNamespace": "prow", "podNamespace": "test-pods"}})
}

// understood parses the arguments of a release's container.
func understood(t *testing.T, values map[string]any) {
	t.Helper()
	values["image"] = map[string]any{"repository": "registry.invalid/salve"}
	if values["runbook"] == "unblock-pull-requests" {
		values["prow"] = map[string]any{"jobNamespace": "prow"}
	}
	objects, err := chart.Release{Folder: chartFolder, Name: "salve", Namespace: "salve", Values: values}.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var arguments []string
	for _, object := range objects {
		if kind := object.GetKind(); kind == "Job" || kind == "Deployment" {
			spec := object.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
			for _, word := range spec["containers"].([]any)[0].(map[string]any)["args"].([]any) {
				arguments = append(arguments, word.(string))
			}
		}
	}
	root := newRoot(&app{program: Options{Runbooks: BuiltIn()}})
	command, rest, err := root.Find(arguments)
	if err != nil || len(arguments) == 0 || !command.Runnable() {
		t.Fatalf("%q: %v", arguments, err)
	}
	if err := command.ParseFlags(rest); err != nil || command.Flags().NArg() > 0 {
		t.Errorf("%q: %v, %q", arguments, err, command.Flags().Args())
	}
}

// chartArguments are values for the flags that are required.
func chartArguments(said chartRunbook) (arguments []any) {
	for _, flag := range said.Required {
		value := "x"
		if flag["flag"] == "subscription" {
			value = "5a1e0000-0000-4000-8000-000000000001"
		}
		arguments = append(arguments, "--"+flag["flag"]+"="+value)
	}
	return arguments
}

// chartFlags are those that the chart requires, as the program names them.
func chartFlags(said chartRunbook) (flags []string) {
	for _, flag := range said.Required {
		name := "--" + flag["flag"]
		if variable := flag["variable"]; variable != "" {
			name += " (or " + variable + ")"
		}
		flags = append(flags, name)
	}
	return flags
}

// programRequires are the flags that the program asks for when it gets no more than these.
func programRequires(t *testing.T, arguments ...string) []string {
	t.Helper()
	var said bytes.Buffer
	execute(&app{
		stdout: &said, stderr: &said, stdin: strings.NewReader(""), arguments: arguments,
		lookup: func(string) string { return "" }, program: Options{Runbooks: BuiltIn()},
	})
	_, list, found := strings.Cut(said.String(), "required flag")
	if !found {
		return nil
	}
	list, _, _ = strings.Cut(strings.TrimPrefix(list, "s"), " not set")
	return strings.Split(strings.TrimSpace(list), ", ")
}
