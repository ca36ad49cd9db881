package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"salve/internal/report"
)

// The forms of an answer, as kubectl has them. Those that are not tables are one document.
const (
	formTable    = "table"
	formWide     = "wide"
	formJSON     = "json"
	formYAML     = "yaml"
	formJSONPath = "jsonpath="
)

// checkOutput finds an invalid --output.
func (a *app) checkOutput() error {
	if template, is := strings.CutPrefix(a.output, formJSONPath); is {
		if _, err := parseJSONPath(template); err != nil {
			return usage("invalid --output %q: %v. hint: -o jsonpath='{.runs[*].run}'", a.output, err)
		}
		return nil
	}
	if forms := []string{formTable, formWide, formJSON, formYAML}; !slices.Contains(forms, a.output) {
		return usage("invalid --output %q: it must be %s, or jsonpath=TEMPLATE", a.output, strings.Join(forms, ", "))
	}
	return nil
}

// json tells whether the answer is one document, in whatever form.
func (a *app) json() bool { return a.output != formTable && a.output != formWide && a.output != "" }

// wide tells whether a table has all of its columns.
func (a *app) wide() bool { return a.output == formWide }

// parseJSONPath takes a template with or without its outer braces, as kubectl does; what is missing in a document is
// empty.
func parseJSONPath(template string) (*jsonpath.JSONPath, error) {
	switch {
	case template == "":
		return nil, fmt.Errorf("the template is empty")
	case !strings.Contains(template, "{"):
		template = "{." + strings.TrimPrefix(template, ".") + "}"
	}
	path := jsonpath.New("output").AllowMissingKeys(true)
	return path, path.Parse(template)
}

// document prints the document that answers the command.
func (a *app) document(document any) error {
	a.answered = true
	var raw bytes.Buffer
	if err := report.JSON(&raw, document); err != nil {
		return err
	}
	text := raw.Bytes()
	switch template, is := strings.CutPrefix(a.output, formJSONPath); {
	case is:
		path, err := parseJSONPath(template)
		if err != nil {
			return err
		}
		var fields any
		if err := json.Unmarshal(text, &fields); err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
		var found bytes.Buffer
		if err := path.Execute(&found, fields); err != nil {
			return usage("invalid --output %q for this answer: %v", a.output, err)
		}
		text = append(found.Bytes(), '\n')
	case a.output == formYAML:
		var err error
		if text, err = yaml.JSONToYAML(text); err != nil {
			return fmt.Errorf("writing the answer as YAML: %w", err)
		}
	}
	_, err := a.stdout.Write(text)
	return err
}
