package actionprogram

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
)

const schemaPath = "../../../docs/action.schema.json"

func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	raw, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	path, err := filepath.Abs(schemaPath)
	if err == nil {
		err = compiler.AddResource("file://"+path, document)
	}
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("file://" + path + "#/$defs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestSchemaAndReaderAgree: what the published schema allows is read, and what it refuses is refused.
func TestSchemaAndReaderAgree(t *testing.T) {
	read := map[string]func([]byte) error{
		"observation": func(raw []byte) error { _, err := decode[observation](raw); return err },
		"plan":        func(raw []byte) error { _, err := decode[planned](raw); return err },
		"result":      func(raw []byte) error { _, err := decode[applied](raw); return err },
	}
	const v1 = `"schema":"salve.action/v1"`
	for kind, texts := range map[string]map[string]bool{
		"observation": {
			`{` + v1 + `,"state":"done"}`:                                           true,
			`{` + v1 + `,"state":"done","outputs":{"a.b-c":[1,{"x":null}]}}`:        true,
			`{` + v1 + `,"state":"done","outputs":{"a b":1}}`:                       false,
			`{` + v1 + `,"state":"not-done","reason":"absent"}`:                     true,
			`{` + v1 + `,"state":"not-done"}`:                                       false,
			`{` + v1 + `,"state":"unknown","reason":"503","secretOutputs":{"a":1}}`: false,
			`{` + v1 + `,"state":"lost","reason":"x"}`:                              false,
			`{` + v1 + `,"state":"done","evidence":1}`:                              false,
			`{"state":"done"}`: false,
			`{"schema":"salve.action/v2","state":"done"}`: false,
			`[]`: false,
			`{` + v1 + `,"state":"not-done","reason":"` + strings.Repeat("x", maxReason+1) + `"}`: false,
		},
		"plan": {
			`{` + v1 + `}`: true,
			`{` + v1 + `,"changes":[{"kind":"delete","resource":"a","summary":"b"}]}`: true,
			`{` + v1 + `,"changes":[{"kind":"move","resource":"a"}]}`:                 false,
			`{` + v1 + `,"changes":[{"kind":"create"}]}`:                              false,
		},
		"result": {
			`{` + v1 + `,"result":"done","secretOutputs":{"key":"x"}}`: true,
			`{` + v1 + `,"result":"failed"}`:                           false,
			`{` + v1 + `,"result":"failed","reason":"quota"}`:          true,
			`{` + v1 + `,"result":"ok"}`:                               false,
		},
	} {
		published := schemaOf(t, kind)
		for text, allowed := range texts {
			document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := published.Validate(document); (err == nil) != allowed {
				t.Errorf("%s %.80s: the schema says %v", kind, text, err)
			}
			if err := read[kind]([]byte(text)); (err == nil) != allowed {
				t.Errorf("%s %.80s: the reader says %v", kind, text, err)
			}
		}
	}
}

// TestRequestsAreAsTheSchemaSays, and secrets are not in them.
func TestRequestsAreAsTheSchemaSays(t *testing.T) {
	group := &pipeline.ResourceGroup{Name: pipeline.Text{Value: "fleet"}, ResourceGroup: pipeline.Text{Value: "rg"}}
	step := &pipeline.Step{Group: group, Name: pipeline.Text{Value: "lamp"}, Action: pipeline.Text{Value: "Lamp"},
		Fields: []pipeline.Field{{Path: []string{"colour"}, Listed: []bool{false}},
			{Path: []string{"keys", "0", "key"}, Listed: []bool{false, true, false}}}}
	raw, environment, err := requestOf(observe, &rollout.Attempt{Run: "run-1", Step: step, Number: 1,
		Variables: []rollout.Variable{{Name: "colour", Value: "red"}, {Name: "keys.0.key", Value: "hunter2", Secret: true}}})
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := schemaOf(t, "request").Validate(document); err != nil {
		t.Error(err)
	}
	if len(environment) != 1 || environment[0] != "SALVE_SECRET_1=hunter2" {
		t.Errorf("the environment is %q", environment)
	}
	const want = `"fields":{"colour":"red","keys":[{"key":null}]},"secrets":{"keys.0.key":"SALVE_SECRET_1"}`
	if text := string(raw); strings.Contains(text, "hunter2") || !strings.Contains(text, want) {
		t.Errorf("it is asked %s", text)
	}
}
