package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Field is one value of what an action adds to a step, of an action that has no type in this package.
type Field struct {
	// Path leads to it from the step: names of fields, and places in lists as decimal numbers.
	Path []string
	// Variable's name is the path, joined by dots.
	Variable
	// Listed tells, for each element of the path, whether it is a place in a list.
	Listed []bool
}

// common are the fields that steps of all actions have; what they say is in the fields of Step.
func common() []string {
	return []string{"name", "action", "dependsOn", "externalDependsOn", "omitFromServiceGroupCompletion",
		"automatedRetry", "idempotent", "timeout", "validation"}
}

// fieldsOf are all values that an action adds to a step, in the order of the file. A mapping that says where a value
// comes from is one of them, and so is an empty mapping or list.
func fieldsOf(from object) []Field {
	var all []Field
	var walk func(node *yaml.Node, path []string, listed []bool)
	walk = func(node *yaml.Node, path []string, listed []bool) {
		value, leaf := leafOf(object{from.in, node})
		switch {
		case leaf:
			all = append(all, Field{Path: path, Listed: listed, Variable: Variable{
				Name: Text{Value: strings.Join(path, "."), At: position(from.in.path, node)}, Value: value,
			}})
		case node.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(node.Content); i += 2 {
				walk(node.Content[i+1], append(slices.Clone(path), node.Content[i].Value), append(slices.Clone(listed), false))
			}
		case node.Kind == yaml.SequenceNode:
			for i, item := range node.Content {
				walk(item, append(slices.Clone(path), strconv.Itoa(i)), append(slices.Clone(listed), true))
			}
		}
	}
	for i := 0; i+1 < len(from.node.Content); i += 2 {
		if name := from.node.Content[i].Value; !slices.Contains(common(), name) {
			walk(from.node.Content[i+1], []string{name}, []bool{false})
		}
	}
	return all
}

// leafOf is the value that a node holds, where it is no mapping or list of more of them.
func leafOf(from object) (Value, bool) {
	if from.node.Kind != yaml.MappingNode {
		if from.node.Kind == yaml.SequenceNode && len(from.node.Content) > 0 {
			return Value{}, false
		}
		return Value{At: from.at(), Literal: literal(from.node)}, true
	}
	names := make([]string, 0, len(from.node.Content)/2)
	for i := 0; i+1 < len(from.node.Content); i += 2 {
		names = append(names, from.node.Content[i].Value)
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return Value{At: from.at(), Literal: map[string]any{}}, true
	case slices.Equal(names, []string{"name", "resourceGroup", "step"}):
		input := from.input()
		return Value{At: from.at(), Input: &input}, true
	case len(names) == 1 && slices.Contains([]string{"value", "configRef", "input"}, names[0]):
		return from.value(), true
	}
	return Value{}, false
}

// Nest gives the fields back their form, with these values in their places: one value for each field, in their order.
func Nest(fields []Field, values []any) (map[string]any, error) {
	if len(fields) != len(values) {
		return nil, fmt.Errorf("%d values for %d fields", len(values), len(fields))
	}
	root := map[string]any{}
	for i, field := range fields {
		root = placed(root, field.Path, field.Listed, values[i]).(map[string]any)
	}
	return root, nil
}

// Decode reads the fields of a step, with these values in their places, into a value for encoding/json.
func (s *Step) Decode(values []any, into any) error {
	nested, err := Nest(s.Fields, values)
	if err != nil {
		return fmt.Errorf("the fields of step %s: %w", s.ID(), err)
	}
	raw, err := json.Marshal(nested)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("the fields of step %s: %w", s.ID(), err)
	}
	return nil
}

// placed puts a value where its path leads. Places of a list come in their order.
func placed(into any, path []string, listed []bool, value any) any {
	if len(path) == 0 {
		return value
	}
	if listed[0] {
		list, _ := into.([]any)
		place, _ := strconv.Atoi(path[0]) // it was a number before it was a text
		for len(list) <= place {
			list = append(list, nil)
		}
		list[place] = placed(list[place], path[1:], listed[1:], value)
		return list
	}
	mapping, _ := into.(map[string]any)
	if mapping == nil {
		mapping = map[string]any{}
	}
	mapping[path[0]] = placed(mapping[path[0]], path[1:], listed[1:], value)
	return mapping
}
