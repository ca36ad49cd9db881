package cli_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"salve/cli"
	"salve/internal/reference"
	"salve/internal/simcli"
)

var refresh = flag.Bool("reference", false, "write docs/reference anew (make reference)")

// TestReferenceIsWhatTheProgramIs: docs/reference has every command, flag and document, as they are. make reference
// writes it anew.
func TestReferenceIsWhatTheProgramIs(t *testing.T) {
	files, err := cli.DocumentFiles(simcli.Documents())
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, commandPages(t))
	folder := filepath.Join("..", "docs", "reference")
	if *refresh {
		if err := reference.Write(folder, "salve", files); err != nil {
			t.Fatal(err)
		}
	}
	if err := reference.Stale(folder, "salve", files); err != nil {
		t.Error(err)
	}
}

// TestSchemasAreValid, by the rules of JSON Schema.
func TestSchemasAreValid(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "docs", "reference", "schemas", "*.json"))
	if err != nil || len(paths) < 30 {
		t.Fatalf("only %q, %v", paths, err)
	}
	for _, path := range paths {
		if _, err := strictSchema(strings.TrimSuffix(filepath.Base(path), ".json")); err != nil {
			t.Error(err)
		}
	}
}

// commandPages are the pages of the commands. Those that salve-sim executes are described by its own.
func commandPages(t *testing.T) map[string][]byte {
	root := cli.RootCommand(cli.Options{Runbooks: cli.BuiltIn()})
	simulator := map[string]*cobra.Command{}
	for _, command := range simcli.Options().Commands {
		simulator[command.Name()] = command
	}
	for _, command := range root.Commands() {
		switch command.Name() {
		case "rehearse":
			root.RemoveCommand(command)
			root.AddCommand(simulator["rehearse"])
		case "sim":
			command.AddCommand(simulator["serve"])
		}
	}
	files := map[string][]byte{"commands.md": reference.Commands(root)}
	for _, command := range root.Commands() {
		if command.IsAvailableCommand() {
			files[command.Name()+".md"] = reference.Command(command)
		}
	}
	if len(files) < 10 {
		t.Fatalf("only %d pages", len(files))
	}
	return files
}

// TestStaleReferenceIsNamed: the command that refreshes it is said, and what would be there.
func TestStaleReferenceIsNamed(t *testing.T) {
	folder := t.TempDir()
	before := map[string][]byte{"a.md": []byte("one\ntwo\n"), "schemas/gone.json": []byte("{}")}
	if err := reference.Write(folder, "salve", before); err != nil {
		t.Fatal(err)
	}
	err := reference.Stale(folder, "salve", map[string][]byte{
		"a.md": []byte("one\n2\n"), "b.md": nil, "schemas/new.json": nil,
	})
	for _, want := range []string{
		`a.md is stale: line 2 would be "2". hint: make reference`, "b.md not found. hint: make reference",
		"gone.json describes what the program does not have. hint: make reference",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// validDocument checks a document against the schema of its kind. Fields that the schema does not name are an error
// here: whoever reads documents may see more within a version, and the tests of this version may not.
func validDocument(raw []byte) error {
	var head struct {
		SchemaVersion int    `json:"schemaVersion"`
		Kind          string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Kind == "" {
		return nil // SARIF, JUnit and the like have formats of their own
	}
	schema, err := strictSchema(head.Kind)
	if err != nil {
		return fmt.Errorf("document %q: %w", head.Kind, err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	if err := schema.Validate(document); err != nil {
		return fmt.Errorf("document %q: %w", head.Kind, err)
	}
	return nil
}

func strictSchema(kind string) (*jsonschema.Schema, error) {
	_, self, _, ok := runtime.Caller(0)
	if !ok {
		return nil, errors.New("the folder of this file is not known")
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(self), "..", "docs", "reference", "schemas", kind+".json"))
	if err != nil {
		return nil, err
	}
	var schema any
	if schema, err = jsonschema.UnmarshalJSON(strings.NewReader(string(raw))); err != nil {
		return nil, err
	}
	closeObjects(schema)
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(kind, schema); err != nil {
		return nil, err
	}
	return compiler.Compile(kind)
}

// closeObjects forbids fields that a schema does not name.
func closeObjects(schema any) {
	switch schema := schema.(type) {
	case map[string]any:
		if _, is := schema["properties"].(map[string]any); is {
			schema["additionalProperties"] = false
		}
		for _, below := range schema {
			closeObjects(below)
		}
	case []any:
		for _, below := range schema {
			closeObjects(below)
		}
	}
}

// TestDocumentsAreCheckedStrictly: a field that no schema names, and one of another type, are found.
func TestDocumentsAreCheckedStrictly(t *testing.T) {
	for document, valid := range map[string]bool{
		`{"schemaVersion": 1, "kind": "runs", "runs": []}`:             true,
		`{"schemaVersion": 1, "kind": "runs"}`:                         false,
		`{"schemaVersion": 1, "kind": "runs", "runs": 2}`:              false,
		`{"schemaVersion": 1, "kind": "runs", "runs": [], "more": {}}`: false,
		`{"schemaVersion": 1, "kind": "no-such-kind"}`:                 false,
		`{"version": "2.1.0"}`:                                         true,
	} {
		if err := validDocument([]byte(document)); (err == nil) != valid {
			t.Errorf("%s: %v", document, err)
		}
	}
}
