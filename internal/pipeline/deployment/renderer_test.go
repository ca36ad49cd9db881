package deployment_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"salve/internal/pipeline"
	"salve/internal/pipeline/deployment"
	"salve/internal/pipeline/rollout"
)

// study is an ARM step with its files.
type study struct {
	template, parameters string
	// names of the two files; t.json and p.json where they aren't said.
	templateName, parametersName string
	// more fields of the step, in YAML.
	more   string
	level  string
	config string
}

const groupTemplate = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"

// withParameters is a template that declares parameters and deploys one thing.
func withParameters(parameters string) string {
	return `{"$schema": "` + groupTemplate + `", "contentVersion": "1.0.0.0", "parameters": {` + parameters +
		`}, "resources": [{"type": "A/b"}]}`
}

// withResources is a template without parameters.
func withResources(resources string) string {
	return `{"$schema": "` + groupTemplate + `", "contentVersion": "1.0.0.0", "resources": ` + resources + `}`
}

func values(parameters string) string { return `{"parameters": {` + parameters + `}}` }

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// step lays the files out and reads the step.
func (s study) step(t *testing.T) (*deployment.Renderer, *pipeline.Step) {
	t.Helper()
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	template, parameters := or(s.templateName, "t.json"), or(s.parametersName, "p.json")
	write(template, or(s.template, withParameters("")))
	write(parameters, or(s.parameters, values("")))
	text := strings.Join([]string{
		"$schema: pipeline.schema.v1", "serviceGroup: A.B", "rolloutName: R", "resourceGroups:",
		"- name: g", "  resourceGroup: rg", "  subscription: s", "  steps:",
		"  - name: before", "    action: Shell", "    command: 'true'", "    shellIdentity: {value: none}",
		"  - name: a", "    action: ARM", "    template: " + template, "    parameters: " + parameters,
		"    deploymentLevel: " + or(s.level, "ResourceGroup"), s.more, "",
	}, "\n")
	path := filepath.Join(folder, "pipeline.yaml")
	file, found := pipeline.Parse(path, []byte(text))
	if found.Errors() > 0 {
		t.Fatal(found)
	}
	var config *pipeline.Config
	if s.config != "" {
		config, _ = pipeline.ParseConfig("config.yaml", []byte(s.config))
		file, _ = file.Resolve(config)
	}
	renderer := &deployment.Renderer{Folder: folder, Config: config, Environment: os.Environ(), Clock: clock.RealClock{}}
	return renderer, file.Steps()[1]
}

func variables(lines ...string) string {
	return "    variables:\n    - " + strings.Join(lines, "\n    - ")
}

// TestMistakes are found before anything is deployed.
func TestMistakes(t *testing.T) {
	for name, row := range map[string]struct {
		study
		says string
	}{
		"a template that is no JSON": {study{template: "{\n,}"}, `t.json: line 2: it is no JSON`},
		"JSON that is no template": {study{template: "{}"},
			"t.json: it is no ARM template: $schema or resources are missing"},
		"a template for another level": {
			study{level: "Subscription"},
			"is not that of a template for deploymentLevel Subscription, which ends in /subscriptionDeploymentTemplate.json#",
		},
		"parameters that are no JSON": {study{parameters: "x"}, "line 1: it is no JSON"},
		"a file without parameters": {study{parameters: "{}"},
			`p.json: it is no file of parameters: "parameters" is missing`},
		"a parameter that is a bare value": {study{parameters: values(`"a": 1`)},
			`parameter "a" must be a mapping with a value or a reference`},
		"a parameter with both": {study{parameters: values(`"a": {"value": 1, "reference": {}}`)},
			`parameter "a" needs either a value or a reference`},
		"a parameter with neither": {study{parameters: values(`"a": {}`)},
			`parameter "a" needs either a value or a reference`},
		"a parameter that isn't declared": {study{template: withParameters(`"size": {"type": "int"}`),
			parameters: values(`"sise": {"value": 1}`)}, `the template has no parameter "sise"; did you mean "size"?`},
		"a template that declares none": {study{parameters: values(`"a": {"value": 1}`)},
			`the template has no parameter "a"; it declares none`},
		"a variable that isn't declared": {study{more: variables("{name: a, value: x}")},
			`variable a: the template has no parameter "a"; it declares none`},
		"an input that isn't declared": {study{more: variables("{name: a, input: {resourceGroup: g, step: before, " +
			"name: stdout}}")}, `variable a: the template has no parameter "a"`},
		"a parameter that nothing gives": {study{template: withParameters(`"b": {"type": "int"}, "a": {"type": "int"}`)},
			"nothing gives the template's parameters a, b"},
		"a place that is held for nobody": {study{template: withParameters(`"a": {"type": "string"}`),
			parameters: values(`"a": {"value": "__a__"}`)},
			"the parameters file holds the place of a, and no variable of the step gives them"},
		"a text for a number": {study{template: withParameters(`"a": {"type": "int"}`),
			more: variables("{name: a, value: hush}")},
			"variable a: the template's parameter a is of type int, and the value is none"},
		"a number for a truth": {study{template: withParameters(`"a": {"type": "bool"}`),
			more: variables("{name: a, value: '7'}")}, "of type bool"},
		"a list for a text": {study{template: withParameters(`"a": {"type": "string"}`),
			more: variables("{name: a, value: [x]}")}, "of type string"},
		"a mapping for a list": {study{template: withParameters(`"a": {"type": "array"}`),
			more: variables(`{name: a, value: '{}'}`)}, "of type array"},
		"a list for a mapping": {study{template: withParameters(`"a": {"type": "object"}`),
			more: variables(`{name: a, value: '[]'}`)}, "of type object"},
		"a configuration without the value": {study{parameters: values(`"a": {"value": "{{ .b }}"}`), config: "{a: 1}"},
			`p.json:1:36: b: the configuration has no "b" in config.yaml`},
		"templates and no configuration": {study{parameters: values(`"a": {"value": "{{ .b }}"}`)},
			"there is no configuration"},
		"outputs only, and a resource": {study{template: withResources(`[{"type": "A/b"}, {"type": "A/b"}]`),
			more: "    outputOnly: true"}, "the step is outputOnly, and the template deploys A/b"},
		"outputs only, with one hidden in a nested deployment": {
			study{
				template: withResources(
					`[{"type": "Microsoft.Resources/deployments", "properties": {"template": {"resources": {"x": {"type": "C/d"}, "y": {"type": "E/f", "existing": true}}}}}]`),
				more: "    outputOnly: true",
			}, "the template deploys C/d",
		},
		"outputs only, with a nested deployment from elsewhere": {
			study{template: withResources(`[{"type": "Microsoft.Resources/deployments", "properties": {"templateLink": {}}}]`),
				more: "    outputOnly: true"},
			"the template deploys Microsoft.Resources/deployments",
		},
		"resources that are a text": {study{template: withResources(`"x"`)},
			"its resources are neither a list nor a mapping"},
		"Bicep without its compiler": {study{templateName: "t.bicep"},
			"t.bicep is Bicep, and there is no program bicep on PATH"},
		"Bicep's parameters without the one": {study{parametersName: "p.bicepparam"},
			"p.bicepparam is Bicep, and there is no program bicep on PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			renderer, step := row.step(t)
			err := renderer.Check(t.Context(), step)
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("says %v, want %s", err, row.says)
			}
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("it shows the value: %v", err)
			}
		})
	}
}

// TestOrder: variables become parameters of the template's types, over what the
// file says, whatever the case of their names.
func TestOrder(t *testing.T) {
	renderer, step := study{
		template: withParameters(`"name": {"type": "String"}, "size": {"type": "int"}, "old": {"type": "bool"}, "zones": {"type": "array"}, "tags": {"type": "object"},
			"own": {"$ref": "#/definitions/x"}, "key": {"type": "secureString"}, "token": {"type": "string"}, "free": {"type": "string", "defaultValue": ""}, "none": {"type": "string", "nullable": true}`),
		parameters: values(
			`"size": {"value": {{ .size }}}, "name": {"value": "__name__"}, "token": {"value": "{{ .said }}"}, "key": {"reference": {"keyVault": {}}}`),
		config: "{size: 3, said: \"a\\\"b\"}",
	}.step(t)
	order, err := renderer.Order(t.Context(), step, []rollout.Variable{
		{Name: "NAME", Value: json.Number("7")}, {Name: "old", Value: "true"}, {Name: "zones", Value: `["1"]`},
		{Name: "tags", Value: map[string]any{"a": "b"}},
		{Name: "own", Value: "x"}, {Name: "token", Value: "hush", Secret: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"name": `{"value":"7"}`, "size": `{"value": 3}`, "old": `{"value":true}`, "zones": `{"value":["1"]}`,
		"tags": `{"value":{"a":"b"}}`,
		"own":  `{"value":"x"}`, "token": `{"value":"hush"}`, "key": `{"reference": {"keyVault": {}}}`, "free": "",
	} {
		if got := string(order.Parameters[name]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if !order.Secret["key"] || !order.Secret["token"] || order.Secret["name"] {
		t.Errorf("secrets %v", order.Secret)
	}
}

// TestTextsOfTheConfigurationStayTexts, whatever is in them.
func TestTextsOfTheConfigurationStayTexts(t *testing.T) {
	renderer, step := study{
		template: withParameters(`"a": {"type": "string"}`), parameters: values(`"a": {"value": "{{ .a }}"}`),
		config: `{a: "\"\\\n"}`,
	}.step(t)
	order, err := renderer.Order(t.Context(), step, nil)
	if err != nil {
		t.Fatal(err)
	}
	var held struct{ Value string }
	if err := json.Unmarshal(order.Parameters["a"], &held); err != nil || held.Value != "\"\\\n" {
		t.Errorf("%q, %v", held.Value, err)
	}
}

// TestWhatWasJudgedIsDeployed: files that change while the pipeline runs don't
// change what its steps deploy.
func TestWhatWasJudgedIsDeployed(t *testing.T) {
	renderer, step := study{}.step(t)
	if err := renderer.Check(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(renderer.Folder, "t.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := renderer.Order(t.Context(), step, nil); err != nil {
		t.Error(err)
	}
}
