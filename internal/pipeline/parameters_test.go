package pipeline_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/pipeline"
)

func TestFill(t *testing.T) {
	config, found := pipeline.ParseConfig("config.yaml", []byte("fleet: {name: a\"b, size: 3, zones: [1]}\n"))
	if found.Errors() > 0 {
		t.Fatal(found)
	}
	for name, row := range map[string]struct {
		text, want string
		wrong      []string
	}{
		"a file without templates stays as it is": {text: "a { b } c", want: "a { b } c"},
		"values are written in the file's language": {text: "x={{ .fleet.name }} y={{ .fleet.size }}",
			want: `x="a\"b" y="3"`},
		"a value that is missing is named and placed": {
			text:  "first\nü {{ .fleet.nmae }}",
			wrong: []string{`p.json:2:6: fleet.nmae: fleet has no "nmae" in config.yaml; did you mean "name"? [missing-config]`},
		},
		"a list is no text": {text: "{{ .fleet.zones }}",
			wrong: []string{"p.json:1:4: fleet.zones leads to a mapping or a list in config.yaml, and a template needs a text " +
				"[missing-config]"}},
		"everything that is missing is said": {text: "{{ .a }}\n{{ .b }}", wrong: []string{
			`p.json:1:4: a: the configuration has no "a" in config.yaml [missing-config]`,
			`p.json:2:4: b: the configuration has no "b" in config.yaml [missing-config]`,
		}},
		"conditions, loops and functions are those of Go": {
			text: "{{ range .fleet.zones }}z{{ . }}{{ end }}{{ if eq .fleet.size 3.0 }}{{ index .fleet \"name\" }}{{ end }}",
			want: `z1"a\"b"`},
		"what is missing in a condition is named and placed": {text: "\n{{ if .fleet.nmae }}x{{ end }}",
			wrong: []string{
				`p.json:2:7: fleet.nmae: fleet has no "nmae" in config.yaml; did you mean "name"? [missing-config]`}},
		"a function that Go doesn't have": {text: "\n{{ upper .fleet.name }}",
			wrong: []string{`p.json:2:1: function "upper" not defined [template]`}},
		"what is no template": {text: "\n\n{{ .a", wrong: []string{"p.json:3:1: unclosed action [template]"}},
	} {
		t.Run(name, func(t *testing.T) {
			filled, found := config.Fill("p.json", row.text, strconv.Quote)
			var wrong []string
			for _, one := range found {
				wrong = append(wrong, one.String())
			}
			if diff := cmp.Diff(row.wrong, wrong); diff != "" || filled != row.want {
				t.Errorf("filled %q, want %q\n%s", filled, row.want, diff)
			}
		})
	}
}

// TestTemplatesInParametersFiles are validated with the pipeline, and count among what
// it uses of the configuration.
func TestTemplatesInParametersFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("t.json", "{}")
	write("p.json", `{"parameters": {"size": {"value": {{ .size }}}, "name": {"value": "{{ .nmae }}"}}}`)
	text := strings.Join([]string{
		"$schema: pipeline.schema.v1", "serviceGroup: A.B", "rolloutName: R", "resourceGroups:",
		"- {name: g, resourceGroup: rg, subscription: s, steps: [{name: a, action: ARM, template: t.json, parameters: " +
			"p.json, deploymentLevel: ResourceGroup}]}", "",
	}, "\n")
	file, found := pipeline.Parse(write("pipeline.yaml", text), []byte(text))
	if found.Errors() > 0 {
		t.Fatal(found)
	}
	config, _ := pipeline.ParseConfig("config.yaml", []byte("{size: 3, name: x}"))
	file, found = pipeline.Validate(file, pipeline.Environment{Config: config})
	want := "p.json:1:71: step g/a: nmae: the configuration has no \"nmae\" in config.yaml; did you mean \"name\"? " +
		"[missing-config]"
	if len(found) != 1 || !strings.HasSuffix(found[0].String(), want) {
		t.Errorf("found %v, want %s", found, want)
	}
	if diff := cmp.Diff([]string{"nmae", "size"}, file.ConfigPaths()); diff != "" {
		t.Error(diff)
	}
}
