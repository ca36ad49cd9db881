package pipeline

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// Config is the configuration that templates and configRefs lead into.
type Config struct {
	// Path is the file's, as it was given.
	Path string
	root *yaml.Node
	// mappings are all in it, ready to be searched: there may be many fields, and many
	// paths that lead to them.
	mappings map[*yaml.Node]mapping
}

type mapping struct {
	fields map[string]*yaml.Node
	names  []string
}

// ReadConfig parses the configuration in a file. The error says that the file
// could not be read at all; what is wrong with its content is in the list.
func ReadConfig(path string) (*Config, diagnostic.List, error) {
	content, err := ReadContent(path)
	if err != nil {
		return nil, nil, err
	}
	config, found := ParseConfig(path, content)
	return config, found, nil
}

// ParseConfig reads a configuration. It is nil when nothing of it can be used.
func ParseConfig(path string, content []byte) (*Config, diagnostic.List) {
	if line := unrendered(content); line > 0 {
		wrong := problem(diagnostic.Position{File: path, Line: line, Column: 1}, "unrendered-config",
			"this configuration is not rendered: it holds the overlays of clouds, environments and regions")
		wrong.Advice = "hint: salve pipeline config render " + path +
			" --cloud CLOUD --environment ENVIRONMENT --region REGION"
		return nil, diagnostic.List{wrong}
	}
	root, found := document(path, content)
	if root == nil {
		return nil, found
	}
	if root.Kind != yaml.MappingNode {
		return nil, append(found, problem(position(path, root), "wrong-type", "a configuration must be a mapping"))
	}
	config := &Config{Path: path, root: root, mappings: map[*yaml.Node]mapping{}}
	config.index(root)
	return config, found
}

// Unrendered tells whether a configuration holds overlays that are not laid over each other yet.
func Unrendered(content []byte) bool { return unrendered(content) > 0 }

// overlays and defaults are the fields by which a configuration is known that is not rendered yet. It needn't be YAML.
var (
	overlays = regexp.MustCompile(`(?m)^clouds:(?:\s|$)`)
	defaults = regexp.MustCompile(`(?m)^defaults:(?:\s|$)`)
)

// unrendered is the line of a configuration in which its overlays begin; 0 where it has none.
func unrendered(content []byte) int {
	at := overlays.FindIndex(content)
	if at == nil || !defaults.Match(content) {
		return 0
	}
	return 1 + bytes.Count(content[:at[0]], []byte("\n"))
}

func (c *Config) index(node *yaml.Node) {
	if node.Kind == yaml.MappingNode {
		held := mapping{fields: make(map[string]*yaml.Node, len(node.Content)/2)}
		for i := 0; i+1 < len(node.Content); i += 2 {
			held.fields[node.Content[i].Value] = node.Content[i+1]
			held.names = append(held.names, node.Content[i].Value)
		}
		c.mappings[node] = held
	}
	for _, child := range node.Content {
		c.index(child)
	}
}

// absence says that a configuration does not hold what a path leads to: the name
// that is missing, and those that are there instead.
type absence struct {
	message, name string
	instead       []string
}

// lookup follows a dotted path. It gives no node where there is no such value, and
// says why.
func (c *Config) lookup(path string) (*yaml.Node, *absence) {
	if c == nil || path == "" {
		return nil, &absence{message: "there is no configuration"}
	}
	at, walked := c.root, "the configuration"
	for _, key := range strings.Split(path, ".") {
		next := c.mappings[at].fields[key]
		if place, err := strconv.Atoi(key); err == nil && at.Kind == yaml.SequenceNode && place >= 0 &&
			place < len(at.Content) {
			next = at.Content[place]
		}
		if next == nil {
			return nil, &absence{fmt.Sprintf("%s: %s has no %q in %s", path, walked, key, c.Path), key, c.mappings[at].names}
		}
		at, walked = next, key
	}
	if at.Kind == yaml.ScalarNode && at.ShortTag() == "!!null" {
		return nil, &absence{message: fmt.Sprintf("%s has no value in %s", path, c.Path)}
	}
	return at, nil
}

// text is what a template of a path is filled with.
func (c *Config) text(path string) (string, *absence) {
	node, absent := c.lookup(path)
	switch {
	case absent != nil:
		return "", absent
	case node.Kind != yaml.ScalarNode:
		return "", &absence{message: fmt.Sprintf("%s leads to a mapping or a list in %s, and a template needs a text",
			path, c.Path)}
	}
	return plain(literal(node)), nil
}

// Value is what a dotted path leads to, in Go's terms: a text, a number, true or false, a list or a mapping of those.
// ok is false where it leads nowhere.
func (c *Config) Value(path string) (value any, ok bool) {
	node, _ := c.lookup(path)
	return literal(node), node != nil
}

// Holds is what a dotted path leads to, in one line that two configurations can be
// compared by; ok is false where it leads nowhere.
func (c *Config) Holds(path string) (held string, ok bool) {
	node, _ := c.lookup(path)
	if node == nil {
		return "", false
	}
	return plain(literal(node)), true
}
