package pipeline

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/pipeline/diagnostic"
)

// Config is the configuration that templates and configRefs lead into.
type Config struct {
	// Path is the file's, as it was given.
	Path string
	root *yaml.Node
}

// ReadConfig parses the configuration in a file. The error says that the file
// could not be read at all; what is wrong with its content is in the list.
func ReadConfig(path string) (*Config, diagnostic.List, error) {
	content, err := readBounded(path)
	if err != nil {
		return nil, nil, err
	}
	config, found := ParseConfig(path, content)
	return config, found, nil
}

// ParseConfig reads a configuration. It is nil when nothing of it can be used.
func ParseConfig(path string, content []byte) (*Config, diagnostic.List) {
	root, found := document(path, content)
	if root == nil {
		return nil, found
	}
	if root.Kind != yaml.MappingNode {
		return nil, append(found, problem(place(path, root), "wrong-type", "a configuration must be a mapping"))
	}
	return &Config{Path: path, root: root}, found
}

// absence says that a configuration does not hold what a path leads to.
type absence struct{ message, advice string }

// lookup follows a dotted path. It gives no node where there is no such value, and
// says why.
func (c *Config) lookup(path string) (*yaml.Node, *absence) {
	if c == nil || path == "" {
		return nil, &absence{message: "there is no configuration"}
	}
	at, walked := c.root, "the configuration"
	for _, key := range strings.Split(path, ".") {
		next := object{node: at}.field(key)
		if next == nil {
			return nil, &absence{
				fmt.Sprintf("%s: %s has no %q in %s", path, walked, key, c.Path), diagnostic.DidYouMean(key, keysOf(at)),
			}
		}
		at, walked = next, key
	}
	if at.Kind == yaml.ScalarNode && at.ShortTag() == "!!null" {
		return nil, &absence{message: fmt.Sprintf("%s has no value in %s", path, c.Path)}
	}
	return at, nil
}

func keysOf(mapping *yaml.Node) []string {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	keys := make([]string, 0, len(mapping.Content)/2)
	for i := 0; i < len(mapping.Content); i += 2 {
		keys = append(keys, mapping.Content[i].Value)
	}
	return keys
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
