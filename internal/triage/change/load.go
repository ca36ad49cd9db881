package change

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

const (
	maximumMap        = 1 << 20 // bytes
	maximumComponents = 1000
	maximumGlobs      = 1000 // in one list
	maximumGlob       = 512  // bytes
	maximumDeep       = 4    // ** in one glob: matching takes time by that power
)

// RuleMap is the rule of everything that is wrong with a map.
const RuleMap = "triage-map"

// InvalidError is everything that is wrong with a map, with places.
type InvalidError struct{ Found diagnostic.List }

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Found))
	for i, d := range e.Found {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// LoadMap reads a map from a YAML file. It fails with *InvalidError for one that is not wholly understood, and with the
// system's error for a file that can't be read.
func LoadMap(path string) (*Map, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a map of components: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maximumMap+1))
	if err != nil {
		return nil, fmt.Errorf("reading a map of components: %w", err)
	}
	return ParseMap(path, content)
}

// ParseMap is LoadMap for a file that was read.
func ParseMap(path string, content []byte) (*Map, error) {
	r := mapReader{path: path}
	m := &Map{}
	if root := r.root(content); root != nil {
		for key, value := range r.mapping(root, "components", "ignore") {
			switch key {
			case "components":
				m.Components = r.components(value)
			case "ignore":
				m.Ignore = r.globs(value, pathGlob)
			}
		}
		if len(m.Components) == 0 && len(r.found) == 0 {
			r.wrong(root, "components: is missing or empty: a map without components says nothing")
		}
	}
	if len(r.found) > 0 {
		r.found.Sort()
		return nil, &InvalidError{r.found}
	}
	return m, nil
}

type mapReader struct {
	path  string
	found diagnostic.List
}

func (r *mapReader) wrong(node *yaml.Node, format string, args ...any) {
	r.found = append(r.found, diagnostic.Diagnostic{Severity: diagnostic.Error, Rule: RuleMap,
		Position: diagnostic.Position{File: r.path, Line: node.Line, Column: node.Column},
		Message:  fmt.Sprintf(format, args...)})
}

func (r *mapReader) root(content []byte) *yaml.Node {
	start := &yaml.Node{Line: 1, Column: 1}
	if len(content) > maximumMap {
		r.wrong(start, "the file has more than the %d bytes that are allowed", maximumMap)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		r.wrong(start, "the file is empty")
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
		return first.Content[0]
	case err != nil:
		r.syntax(err)
	default:
		r.wrong(&second, "a second YAML document begins here: a map is one")
	}
	return nil
}

// syntax places an error of the YAML library, which says the line in its text only.
func (r *mapReader) syntax(err error) {
	at := &yaml.Node{Line: 1, Column: 1}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if _, scanErr := fmt.Sscanf(text, "line %d: ", &at.Line); scanErr == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	r.wrong(at, "this is not YAML: %s", text)
}

// mapping gives the keys of a mapping that may be there, each once.
func (r *mapReader) mapping(node *yaml.Node, known ...string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	if node.Kind != yaml.MappingNode {
		r.wrong(node, "expected a mapping%s", keys(known))
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name := r.text(key)
		switch {
		case name == "":
		case values[name] != nil:
			r.wrong(key, "%q stands twice", name)
		case known != nil && !isOneOf(name, known):
			r.wrong(key, "unknown key %q%s", name, keys(known))
		default:
			values[name] = value
		}
	}
	return values
}

func isOneOf(name string, known []string) bool {
	for _, k := range known {
		if k == name {
			return true
		}
	}
	return false
}

func keys(known []string) string {
	if known == nil {
		return ""
	}
	return "; the keys are " + strings.Join(known, ", ")
}

// text is a scalar that is not empty.
func (r *mapReader) text(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		r.wrong(node, "an alias or anchor: write the value out")
	case node.Kind != yaml.ScalarNode || node.Tag == "!!null":
		r.wrong(node, "expected a text")
	case node.Value == "":
		r.wrong(node, "an empty text")
	default:
		return node.Value
	}
	return ""
}

// list gives the items of a list that is not empty.
func (r *mapReader) list(node *yaml.Node, atMost int) []*yaml.Node {
	switch {
	case node.Kind != yaml.SequenceNode:
		r.wrong(node, "expected a list")
	case len(node.Content) == 0:
		r.wrong(node, "an empty list: leave the key out")
	case len(node.Content) > atMost:
		r.wrong(node, "more than %d items", atMost)
	default:
		return node.Content
	}
	return nil
}

func (r *mapReader) texts(node *yaml.Node) []string {
	var texts []string
	for _, item := range r.list(node, maximumGlobs) {
		texts = append(texts, r.text(item))
	}
	return texts
}

func (r *mapReader) components(node *yaml.Node) []Component {
	var components []Component
	taken := map[string]bool{}
	for _, item := range r.list(node, maximumComponents) {
		c := r.component(item)
		if c.Name != "" && taken[c.Name] {
			r.wrong(item, "component %q stands twice", c.Name)
		}
		taken[c.Name] = true
		components = append(components, c)
	}
	return components
}

func (r *mapReader) component(node *yaml.Node) Component {
	var c Component
	before := len(r.found)
	values := r.mapping(node, "name", "paths", "scenarios", "where", "except")
	for key, value := range values {
		switch key {
		case "name":
			c.Name = clean([]byte(r.text(value)))
		case "paths":
			c.Paths = r.globs(value, pathGlob)
		case "scenarios":
			c.Scenarios = r.globs(value, nameGlob)
		case "where":
			c.Where = r.conditions(value)
		case "except":
			c.Except = r.globs(value, nameGlob)
		}
	}
	if len(r.found) > before {
		return c
	}
	for _, key := range []string{"name", "paths"} {
		if values[key] == nil {
			r.wrong(node, "a component without %s:", key)
		}
	}
	return c
}

// conditions keeps the file's order: the answer doesn't depend on it, and whoever prints them should not.
func (r *mapReader) conditions(node *yaml.Node) []Condition {
	values := r.mapping(node)
	var conditions []Condition
	for i := 0; i+1 < len(node.Content) && values != nil; i += 2 {
		name := node.Content[i].Value
		if values[name] == node.Content[i+1] {
			conditions = append(conditions, Condition{name, r.texts(node.Content[i+1])})
		}
	}
	if len(conditions) == 0 {
		r.wrong(node, "no attribute: leave the key out")
	}
	return conditions
}

type globKind bool

const (
	nameGlob globKind = false
	pathGlob globKind = true
)

func (r *mapReader) globs(node *yaml.Node, kind globKind) []string {
	var globs []string
	for i, item := range r.list(node, maximumGlobs) {
		glob := r.text(item)
		positive, not := strings.CutPrefix(glob, "!")
		switch {
		case glob == "":
			continue // said already
		case not && i == 0:
			r.wrong(item, "glob %q takes away before anything was given", glob)
		case len(glob) > maximumGlob:
			r.wrong(item, "a glob of more than %d bytes", maximumGlob)
		case positive == "" || !doublestar.ValidatePattern(positive):
			r.wrong(item, "glob %q is invalid", glob)
		case strings.Count(positive, "**") > maximumDeep:
			r.wrong(item, "glob %q has more than %d **", glob, maximumDeep)
		case kind == pathGlob && strings.HasPrefix(positive, "/"), kind == pathGlob && strings.HasPrefix(positive, "./"):
			r.wrong(item, "glob %q: paths begin at the repository's root, without / or ./", glob)
		case kind == pathGlob && strings.HasSuffix(positive, "/"):
			r.wrong(item, "glob %q matches no file; write %q", glob, glob+"**")
		}
		globs = append(globs, glob)
	}
	return globs
}
