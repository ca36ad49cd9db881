package configuration

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

// shown is how much of what is wrong is said at most.
const shown = 50

// Validate validates the configuration by a JSON schema. What is wrong names the path of the configuration. The error
// says that the schema itself is none. Its rules in CEL, x-cel-validations, are evaluated as rollout tools do.
func (r *Rendered) Validate(path, schema string) (found diagnostic.List, err error) {
	if strings.Contains(schema, "://") {
		return nil, fmt.Errorf("reading the schema: %s is an address, and it must be a file: nothing is fetched", schema)
	}
	if _, err := pipeline.ReadNamed(schema); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	vocabulary, err := newRules()
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{"file": jsonschema.FileLoader{}})
	compiler.RegisterVocabulary(vocabulary)
	compiler.AssertVocabs()
	compiled, err := compiler.Compile(schema)
	if err != nil {
		return nil, fmt.Errorf("reading the schema %s: %w", schema, err)
	}
	var values any
	if encoded, err := json.Marshal(r.Values); err != nil || json.Unmarshal(encoded, &values) != nil {
		return nil, fmt.Errorf("reading %s: it holds what JSON does not have", path)
	}
	err = compiled.Validate(values)
	var wrong *jsonschema.ValidationError
	if errors.As(err, &wrong) {
		found, err = leaves(path, wrong), nil
	}
	if more := len(found) - shown; more > 0 {
		found = append(found[:shown], problem(diagnostic.Position{File: path}, "schema", fmt.Sprintf("and %d more", more)))
	}
	return found, err
}

// leaves are what is wrong in particular.
func leaves(path string, wrong *jsonschema.ValidationError) diagnostic.List {
	if len(wrong.Causes) == 0 {
		says := wrong.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		at := strings.Join(wrong.InstanceLocation, ".")
		if at == "" {
			at = "the configuration"
		}
		return diagnostic.List{problem(diagnostic.Position{File: path}, "schema", at+": "+says)}
	}
	var found diagnostic.List
	for _, cause := range wrong.Causes {
		found = append(found, leaves(path, cause)...)
	}
	found.Sort()
	return found
}
