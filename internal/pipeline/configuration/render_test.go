package configuration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/pipeline/configuration"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func place() configuration.Context {
	return configuration.Context{Cloud: "c", Environment: "e", Region: "r"}
}

// TestOverlays: mappings are laid over mappings; whatever else takes the place of what was there, nothing too.
func TestOverlays(t *testing.T) {
	path := write(t, "config.yaml", `
defaults: {kept: 1, list: [a, b], none: x, shape: {a: 1}, deep: {a: {b: 1, c: 2}}}
clouds:
  c:
    defaults: {list: [c], shape: text}
    environments:
      e:
        defaults: {none: null, deep: {a: {b: 3}}}
        regions:
          r: {deep: {a: {d: on}}, shape: {b: 2}}
          other: {kept: 9}
`)
	rendered, found, err := configuration.Render(place(), path)
	if err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	want := map[string]any{
		"kept": 1.0, "list": []any{"c"}, "none": nil, "shape": map[string]any{"b": 2.0},
		"deep": map[string]any{"a": map[string]any{"b": 3.0, "c": 2.0, "d": true}},
	}
	if diff := cmp.Diff(want, rendered.Values); diff != "" || rendered.Everywhere {
		t.Error(diff)
	}
}

func TestRenderMistakes(t *testing.T) {
	for name, row := range map[string]struct{ text, says string }{
		"a cloud that is a list": {"defaults: {}\nclouds: {c: []}", "clouds.c must be a mapping [wrong-type]"},
		"defaults that are none": {"defaults: 3\nclouds: {c: {environments: {e: {}}}}",
			`"defaults" of the configuration must be a mapping [wrong-type]`},
		"a list":                {"- a\n", "it is no mapping [yaml-syntax]"},
		"nothing":               {"# nothing\n", "it is empty [yaml-syntax]"},
		"a function":            {"a: {{ env \"HOME\" }}", `function "env" not defined [template]`},
		"what nobody gives":     {"\na: {{ .b.c }}", "config.yaml:2:7: nothing gives .b.c; --values FILE"},
		"a region's short name": {"a: {{ .ctx.regionShort }}", "--region-short gives it [missing-config]"},
		"a bomb": {`{{range 1000000}}{{range 1000000}}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{end}}{{end}}`,
			"becomes larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, found, err := configuration.Render(place(), write(t, "config.yaml", row.text))
			if err != nil || len(found) != 1 || !strings.Contains(found[0].String(), row.says) {
				t.Errorf("%v, %v, want %s", found, err, row.says)
			}
		})
	}
}

// TestAMistakeIsThatOfItsFile: what an overlay has wrong is not looked for in the configuration.
func TestAMistakeIsThatOfItsFile(t *testing.T) {
	path := write(t, "config.yaml", "clouds: {c: {environments: {e: {regions: {r: {}}}}}}")
	_, found, err := configuration.Render(place(), path, write(t, "overlay.yaml", "default: {a: 1}"))
	if err != nil || len(found) != 1 || !strings.HasSuffix(found[0].Position.File, "overlay.yaml") ||
		!strings.Contains(found[0].String(), `has no field "default"; did you mean "defaults"?`) {
		t.Errorf("%v, %v", found, err)
	}
}

// TestNoSchemaIsFetched: what is needed is on this machine.
func TestNoSchemaIsFetched(t *testing.T) {
	path := write(t, "config.yaml", "$schema: https://schemas.example/a.json\nclouds: {c: {environments: {e: {}}}}")
	rendered, _, err := configuration.Render(place(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rendered.Validate(path, rendered.Schema); err == nil ||
		!strings.Contains(err.Error(), "https://schemas.example/a.json is an address, and it must be a file") {
		t.Errorf("%v", err)
	}
}

// TestSchemaSaysNoMoreThanIsRead, and names each place.
func TestSchemaSaysNoMoreThanIsRead(t *testing.T) {
	schema := write(t, "schema.json", `{"additionalProperties": {"type": "string"}, "x-cel-validations": []}`)
	rendered := &configuration.Rendered{Values: map[string]any{}}
	for _, name := range strings.Fields(strings.Repeat("a b c d e f g h i j ", 8)) {
		rendered.Values[name+strings.Repeat("x", len(rendered.Values))] = 1
	}
	found, err := rendered.Validate("config.yaml", schema)
	if err != nil {
		t.Fatal(err)
	}
	if last := found[len(found)-1].Message; len(found) != 51 || last != "and 30 more" ||
		found[0].Message != "a: got number, want string" {
		t.Errorf("%d: %s … %s", len(found), found[0].Message, last)
	}
}

func TestDifferences(t *testing.T) {
	before := map[string]any{"same": []any{"a"}, "gone": 1.0, "deep": map[string]any{"a": 1.0, "b": nil}, "shape": 1.0}
	after := map[string]any{"same": []any{"a"}, "new": nil, "deep": map[string]any{"a": 2.0, "b": nil},
		"shape": map[string]any{"a": 1.0}}
	found, err := configuration.Differences(before, after)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range found {
		got = append(got, one.Path+": "+string(one.Before)+" → "+string(one.After))
	}
	want := []string{"deep.a: 1 → 2", "gone: 1 → ", "new:  → null", `shape: 1 → {"a":1}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestRenderWarnsOfBooleans: what rollout tools read as true or false is said, keys too: the schema's own words about a
// key "false" would explain nothing.
func TestRenderWarnsOfBooleans(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"a value":       {"defaults: {a: yes}\nclouds: {c: {environments: {e: {}}}}", ":1:15: "},
		"a key":         {"defaults: {n: 1}\nclouds: {c: {environments: {e: {}}}}", ":1:12: "},
		"of a template": {"defaults: {a: {{ .ctx.answer }}}\nclouds: {c: {environments: {e: {}}}}", ":1:15: "},
		"lines that change": {"{{ range .ctx.lines }}\n{{ end }}defaults: {a: yes}\nclouds: {c: {environments: {e: {}}}}",
			".yaml: "},
	} {
		context := place()
		context.Stamp = "on"
		text := strings.NewReplacer(".ctx.answer", ".ctx.stamp", ".ctx.lines", "$i := 3").Replace(row.text)
		path := write(t, "config.yaml", text)
		rendered, found, err := configuration.Render(context, path)
		if err != nil || len(found) > 0 {
			t.Fatal(name, found, err)
		}
		if len(rendered.Warnings) != 1 || rendered.Warnings[0].Rule != "yaml-boolean" ||
			!strings.Contains(rendered.Warnings[0].String(), row.want) {
			t.Errorf("%s: %v, want one yaml-boolean at %q", name, rendered.Warnings, row.want)
		}
	}
}
