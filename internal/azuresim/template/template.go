package template

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Template is an ARM template whose shape and expressions were checked.
type Template struct {
	*document
	expressions map[string]expression // by their text, with brackets
	// evaluated: its expressions were already evaluated, with what the template around it knows.
	evaluated  bool
	parameters map[string]any
	variables  map[string]any
	outputs    map[string]any
	resources  []declared
	symbolic   bool
}

// declared is a resource as the template has it.
type declared struct {
	symbol string // in templates whose resources are an object
	path   string
	body   map[string]any
}

// Parse checks the text of a template. Errors are of type *Error.
func Parse(text []byte) (*Template, error) { return parseTemplate(text, false) }

// parseTemplate: a nested template that was evaluated within the one around it (the scope "outer") has no expressions
// left; what looks like one is plain text.
func parseTemplate(text []byte, evaluated bool) (*Template, error) {
	read, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	t := &Template{document: read, evaluated: evaluated, expressions: map[string]expression{}}
	root, isObject := read.root.(map[string]any)
	if !isObject {
		return nil, invalid("The template is not an object.")
	}
	for _, required := range []string{"$schema", "contentVersion", "resources"} {
		if _, there := get(root, required); !there {
			return nil, &Error{"InvalidTemplate",
				fmt.Sprintf("Required property '%s' not found in JSON. Path '', line 1, position 1.", required)}
		}
	}
	if err := t.sections(root); err != nil {
		return nil, err
	}
	if err := t.parseAll("", root, 0); err != nil {
		return nil, err
	}
	return t, nil
}

func isSection(name string) bool {
	switch strings.ToLower(name) {
	case "$schema", "contentversion", "languageversion", "apiprofile", "metadata", "parameters", "variables", "resources",
		"outputs", "functions", "definitions":
		return true
	}
	return false
}

// sections takes the template apart.
func (t *Template) sections(root map[string]any) error {
	for _, name := range sortedKeys(root) {
		value, lower := root[name], strings.ToLower(name)
		object, isObject := value.(map[string]any)
		list, isList := value.([]any)
		empty := value == nil || isObject && len(object) == 0 || isList && len(list) == 0
		line, column := t.where("." + name)
		switch {
		case !isSection(name):
			return invalid("The template property '%s' at line '%d' and column '%d' is not expected.", name, line, column)
		case (lower == "functions" || lower == "definitions") && !empty:
			return invalid("The template property '%s' at line '%d' and column '%d' is not supported by the embedded Azure.",
				name, line, column)
		case slices.Contains([]string{"parameters", "variables", "outputs"}, lower) && value != nil && !isObject:
			return invalid("The template property '%s' at line '%d' and column '%d' must be an object.", name, line, column)
		}
		switch lower {
		case "parameters":
			t.parameters = object
		case "variables":
			t.variables = object
		case "outputs":
			t.outputs = object
		case "resources":
			if err := t.declare(value, "."+name); err != nil {
				return err
			}
		}
	}
	return t.checkParameters()
}

// declare takes resources in both shapes: a list, or an object of symbolic names.
func (t *Template) declare(resources any, path string) error {
	switch resources := resources.(type) {
	case []any:
		for i, resource := range resources {
			if err := t.declareOne("", item(path, i), resource, nil); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		t.symbolic = true
		for _, symbol := range sortedKeys(resources) {
			if err := t.declareOne(symbol, below(path, symbol), resources[symbol], nil); err != nil {
				return err
			}
		}
		return nil
	}
	line, column := t.where(path)
	return invalid("The template property 'resources' at line '%d' and column '%d' must be an array or an object.",
		line, column)
}

// declareOne also takes in what is declared inside of a resource: its children, whose types and names follow its own.
func (t *Template) declareOne(symbol, path string, value any, parent map[string]any) error {
	line, column := t.where(path)
	body, isObject := value.(map[string]any)
	if !isObject {
		return invalid("The template resource at line '%d' and column '%d' must be an object.", line, column)
	}
	body = maps.Clone(body)
	for _, required := range []string{"type", "name", "apiVersion"} {
		if getText(body, required) == "" {
			return invalid("The template resource at line '%d' and column '%d' has no property '%s'.", line, column, required)
		}
	}
	if parent != nil {
		body["type"] = getText(parent, "type") + "/" + getText(body, "type")
		name, own := getText(parent, "name"), getText(body, "name")
		if isExpression(name) || isExpression(own) {
			return invalid("The template resource at line '%d' and column '%d' is a child whose name is an expression, "+
				"which the embedded Azure takes only outside of its parent.", line, column)
		}
		body["name"] = name + "/" + own
	}
	children, _ := get(body, "resources")
	t.resources = append(t.resources, declared{symbol: symbol, path: path, body: body})
	list, isList := children.([]any)
	if children != nil && !isList {
		return invalid("The children of the template resource at line '%d' and column '%d' must be an array.", line, column)
	}
	for i, child := range list {
		if err := t.declareOne("", item(below(path, "resources"), i), child, body); err != nil {
			return err
		}
	}
	return nil
}

// parseAll parses every expression, also of parts that will never be evaluated.
func (t *Template) parseAll(path string, value any, depth int) error {
	switch value := value.(type) {
	case string:
		return t.parseOne(path, value)
	case []any:
		for i := range value {
			if err := t.parseAll(item(path, i), value[i], depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range sortedKeys(value) {
			if err := t.parseOne(below(path, key), key); err != nil {
				return err
			}
			if depth == 0 && strings.EqualFold(key, "metadata") {
				continue
			}
			if err := t.parseAll(below(path, key), value[key], depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Template) parseOne(path, text string) error {
	if t.evaluated || !isExpression(text) || t.expressions[text] != nil {
		return nil
	}
	e, err := parse(text)
	if err != nil {
		line, column := t.where(path)
		return invalid("The template%s at line '%d' and column '%d' is not valid: %s. Please see https://aka.ms/arm-syntax "+
			"for usage details.",
			strings.ReplaceAll(path, ".", " "), line, column, err)
	}
	t.expressions[text] = e
	return nil
}

func sortedKeys[V any](object map[string]V) []string { return slices.Sorted(maps.Keys(object)) }

// Hash is a number that is the same for the same text.
func (t *Template) Hash() string {
	sum := sha256.Sum256(t.text)
	return strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 10)
}
