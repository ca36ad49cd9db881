package pipeline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

func parseConfig(t *testing.T, text string) *pipeline.Config {
	t.Helper()
	config, found := pipeline.ParseConfig("config.yaml", []byte(text))
	if len(found) > 0 {
		t.Fatal(found)
	}
	return config
}

// lines is a list as a reader sees it.
func lines(found diagnostic.List) string {
	var text strings.Builder
	for _, d := range found {
		text.WriteString(d.String() + "\n")
	}
	return text.String()
}

func TestResolve(t *testing.T) {
	config := parseConfig(t, `
fleet: {rg: fleet-rg, cluster: aks-1, nodes: 3, share: 0.25, big: 12345678901, since: 2026-11-21, ready: true, zones: [a, b], labels: {x: z}}
`)
	const file = `serviceGroup: S
rolloutName: R
resourceGroups:
- name: fleet
  resourceGroup: 'pre-{{ .fleet.rg }}-post'
  subscription: s
  steps:
  - name: cluster
    action: Shell
    command: |
      echo {{ .fleet.nodes }}
    shellIdentity: {configRef: fleet.cluster}
    variables:
    - {name: NODES, configRef: fleet.nodes}
    - {name: SHARE, configRef: fleet.share}
    - {name: BIG, configRef: fleet.big}
    - {name: SINCE, configRef: fleet.since}
    - {name: READY, configRef: fleet.ready}
    - {name: ZONES, configRef: fleet.zones}
    - {name: LABELS, configRef: fleet.labels}
    - {name: TEXT, value: 'on {{.fleet.cluster}}'}
    - {name: LIST, value: [a, '{{ .fleet.rg }}']}
`
	parsed, found := pipeline.Parse("p.yaml", []byte(file))
	if len(found) > 0 {
		t.Fatal(lines(found))
	}
	resolved, found := parsed.Resolve(config)
	if len(found) > 0 {
		t.Fatal(lines(found))
	}
	step := resolved.Steps()[0]
	got := map[string]string{
		"group": resolved.ResourceGroups[0].ResourceGroup.Value, "command": step.Shell.Command.Value,
		"identity": step.Shell.Identity.Plain(),
	}
	for _, variable := range step.Shell.Variables {
		got[variable.Name.Value] = variable.Plain()
	}
	want := map[string]string{
		"group": "pre-fleet-rg-post", "command": "echo 3\n", "identity": "aks-1", "NODES": "3", "SHARE": "0.25",
		"BIG":   "12345678901",
		"SINCE": "2026-11-21", "READY": "true", "ZONES": `["a","b"]`, "LABELS": `{"x":"z"}`, "TEXT": "on aks-1",
		"LIST": `["a","fleet-rg"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if step.Shell.Variables[0].ConfigRef.Value != "fleet.nodes" {
		t.Error("where a value came from is forgotten")
	}
	if parsed.Steps()[0].Shell.Command.Value != "echo {{ .fleet.nodes }}\n" {
		t.Error("resolving changed the file that was parsed")
	}
	paths := []string{
		"fleet.big", "fleet.cluster", "fleet.labels", "fleet.nodes", "fleet.ready", "fleet.rg", "fleet.share", "fleet.since",
		"fleet.zones",
	}
	for _, file := range []*pipeline.File{parsed, resolved} {
		if diff := cmp.Diff(paths, file.ConfigPaths()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestVariablesThatAreNoText: a note says in which form a step gets them, of its dry run's too.
func TestVariablesThatAreNoText(t *testing.T) {
	const file = `serviceGroup: S
rolloutName: R
resourceGroups:
- name: fleet
  resourceGroup: rg
  subscription: s
  steps:
  - name: a
    action: Shell
    command: 'true'
    shellIdentity: {configRef: text}
    variables: [{name: A, configRef: map}, {name: B, configRef: text}, {name: C, value: [x]}]
    dryRun: {variables: [{name: A, configRef: list}]}
`
	parsed, found := pipeline.Parse("p.yaml", []byte(file))
	if len(found) > 0 {
		t.Fatal(lines(found))
	}
	_, found = pipeline.Validate(parsed, pipeline.Environment{
		Config: parseConfig(t, "map: {x: hush}\nlist: [hush]\ntext: t\n"), FileOnly: true,
	})
	want := "p.yaml:12:38: note: step fleet/a: variable A gets JSON here, because map in config.yaml is a mapping; " +
		"other rollout tools give it in Go's form, map[…] [variable-json]\n" +
		"p.yaml:13:47: note: step fleet/a: variable A gets JSON here, because list in config.yaml is a list; other " +
		"rollout tools give it in Go's form, [a b] [variable-json]\n"
	if diff := cmp.Diff(want, lines(found)); diff != "" {
		t.Error(diff)
	}
	if _, found = pipeline.Validate(parsed, pipeline.Environment{FileOnly: true}); len(found) > 0 {
		t.Error(lines(found))
	}
}

func TestTemplates(t *testing.T) {
	config := parseConfig(t, "a: {b: text, list: [x], empty: ''}\n")
	for template, want := range map[string]string{
		"{{ .a.b }}":       "text",
		"{{.a.b}}{{.a.b}}": "texttext",
		"x {{- .a.b -}} y": "xtexty",
		"{{ .a.empty }}":   "",
		"{{ .a.list }}": "a.list leads to a mapping or a list in config.yaml, and a template needs a " +
			"text [missing-config]",
		"{{ .a.c }}":                            `a.c: a has no "c" in config.yaml`,
		"{{ .c.b }}":                            `c.b: the configuration has no "c" in config.yaml`,
		"{{ .a.b.c }}":                          `a.b.c: b has no "c" in config.yaml`,
		"{{ $x := .a.b }}{{ $x }}":              "text",
		"{{ range .a.list }}<{{ . }}>{{ end }}": "<x>",
		"{{ .a.b | printf \"%q\" }}":            `"text"`,
		`{{ define "t" }}x{{ end }}`:            "",
		"{{ if .a.c }}{{ end }}":                `a.c: a has no "c" in config.yaml`,
		"{{ lower .a.b }}":                      `function "lower" not defined [template]`,
		"{{ .a.b-c }}":                          "bad character",
		"{{ .a.b ":                              "unclosed action",
		"{{/* said to nobody */}}{{.a.b}}":      "text",
	} {
		t.Run(template, func(t *testing.T) {
			text := "serviceGroup: S\nresourceGroups: []\nrolloutName: |-\n  >" + template
			file, found := pipeline.Parse("p.yaml", []byte(text))
			if len(found) > 0 {
				t.Fatal(lines(found))
			}
			resolved, found := file.Resolve(config)
			got := strings.TrimPrefix(resolved.RolloutName.Value, ">")
			if found.Errors() > 0 {
				got = lines(found)
			}
			if got != want && (want == "" || !strings.Contains(got, want)) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
