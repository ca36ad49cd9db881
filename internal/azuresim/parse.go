package azuresim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Parse reads a scenario. Unknown fields and bad values are errors that name the source, the line and the reason.
func Parse(source string, data []byte) (Scenario, error) {
	scenario := withDefaults()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&scenario); err != nil {
		if errors.Is(err, io.EOF) {
			return Scenario{}, fmt.Errorf("%s: line 1: the scenario is empty", source)
		}
		return Scenario{}, fmt.Errorf("%s: %w", source, readable(err))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Scenario{}, fmt.Errorf("%s: a scenario file holds one document", source)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return Scenario{}, fmt.Errorf("%s: %w", source, readable(err))
	}
	if scenario.Name == "" {
		scenario.Name = nameOf(source)
	}
	scenario.fillIn()
	if p := scenario.check(); p != nil {
		return Scenario{}, fmt.Errorf("%s: line %d: %s", source, lineOf(&document, p.path), p.reason)
	}
	return scenario, nil
}

// readable drops the decoder's own words and Go's type names.
func readable(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	lines := make([]string, 0, len(wrong.Errors))
	for _, line := range wrong.Errors {
		line = strings.ReplaceAll(line, "cannot unmarshal !!", "cannot read ")
		if place, field, found := strings.Cut(line, ": field "); found {
			name, _, _ := strings.Cut(field, " not found in type")
			line = fmt.Sprintf("%s: unknown field %q", place, name)
		}
		lines = append(lines, strings.ReplaceAll(line, "azuresim.", ""))
	}
	return errors.New(strings.Join(lines, "; "))
}

// UnmarshalYAML reads a Go duration.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	span, err := time.ParseDuration(node.Value)
	switch {
	case err != nil:
		return wrongValue(node, "%q is not a duration such as 90s or 2m30s", node.Value)
	case span < 0:
		return wrongValue(node, "duration %s is negative", node.Value)
	}
	*d = Duration(span)
	return nil
}

func wrongValue(node *yaml.Node, format string, arguments ...any) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s", node.Line, fmt.Sprintf(format, arguments...))}}
}

// lineOf finds the line of a value by its path; the nearest enclosing value's when it is not written down.
func lineOf(node *yaml.Node, path []any) int {
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		node = node.Content[0]
	}
	line := max(node.Line, 1)
	for _, step := range path {
		child := childOf(node, step)
		if child == nil {
			return line
		}
		node, line = child, child.Line
	}
	return line
}

func childOf(node *yaml.Node, step any) *yaml.Node {
	switch step := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && step < len(node.Content) {
			return node.Content[step]
		}
	case string:
		if node.Kind != yaml.MappingNode {
			return nil
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i+1]
			}
		}
	}
	return nil
}
