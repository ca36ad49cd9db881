package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

const (
	// maximumFile bounds a file in bytes, after decompression. A ConfigMap holds 1 MiB.
	maximumFile = 8 << 20
	// maximumDepth bounds how deep mappings and lists are nested, aliases followed. A
	// pod spec needs twenty.
	maximumDepth = 64
	// maximumNodes bounds how many nodes a file has when every alias is followed:
	// some ten lines of aliases to aliases are a billion.
	maximumNodes = 1 << 20
)

// Rules of what is wrong with a file, or with the configuration as a whole.
const (
	// RuleUnreadable: the file, or part of it, could not be read; the configuration
	// is incomplete.
	RuleUnreadable = "prow-unreadable"
	// RuleRefused: Prow refuses to load the configuration, and keeps the old one.
	RuleRefused = "prow-refused"
	// RuleDropped: Prow reads the file and silently drops this part of it.
	RuleDropped = "prow-dropped"
)

// document is the YAML of a file. Prow reads the first document of a file and drops
// the rest without a word, and of a key that stands twice the first.
func (r *reader) document(content []byte) (*yaml.Node, bool) {
	if root := r.plain.Root(content); root != nil {
		check := walker{reader: r}
		return root, check.node(root, 1)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, false
	case err != nil:
		r.syntax(err)
		return nil, false
	}
	check := walker{reader: r}
	if !check.node(first.Content[0], 1) {
		return nil, false
	}
	if err := decoder.Decode(&second); err == nil {
		r.report(&second, diagnostic.Warning, RuleDropped,
			"a second YAML document begins here: Prow reads the first of a file only")
	}
	return first.Content[0], true
}

// syntax places an error of the YAML library, which says the line in its text only.
func (r *reader) syntax(err error) {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if found := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(text); found != nil {
		text = text[len(found[0]):]
		if number, err := strconv.Atoi(found[1]); err == nil {
			line = number
		}
	}
	r.found = append(r.found, diagnostic.Diagnostic{Severity: diagnostic.Error, Rule: RuleUnreadable,
		Position: diagnostic.Position{File: r.file, Line: line, Column: 1}, Message: "invalid YAML: " + text})
	r.unreadable = true
}

// walker looks over a whole file once, before any of it is decoded.
type walker struct {
	reader *reader
	nodes  int
	// aliased says that this part of the file was looked over where it stands.
	aliased bool
}

// node is false for a tree that is too deep or too large to be decoded.
func (w *walker) node(node *yaml.Node, depth int) bool {
	w.nodes++
	switch {
	case depth > maximumDepth:
		return w.refuse(node, "nested more than %d levels deep", maximumDepth)
	case w.nodes > maximumNodes:
		return w.refuse(node, "more than %d nodes, aliases followed", maximumNodes)
	}
	switch node.Kind {
	case yaml.AliasNode:
		before := w.aliased
		w.aliased = true
		sound := w.node(node.Alias, depth+1)
		w.aliased = before
		return sound
	case yaml.MappingNode:
		if !w.aliased {
			w.duplicates(node)
		}
	default:
	}
	for _, child := range node.Content {
		if !w.node(child, depth+1) {
			return false
		}
	}
	return true
}

func (w *walker) refuse(node *yaml.Node, format string, limit int) bool {
	w.reader.report(node, diagnostic.Error, RuleUnreadable, fmt.Sprintf(format, limit))
	w.reader.unreadable = true
	return false
}

// duplicates reports the keys of a mapping that stand twice. The last one counts
// (sigs.k8s.io/yaml, Unmarshal); with unknown-fields checkconfig refuses them.
func (w *walker) duplicates(node *yaml.Node) {
	const few = 12 // below this comparing is faster than a map
	var seen map[string]bool
	if len(node.Content) > 2*few {
		seen = make(map[string]bool, len(node.Content)/2)
	}
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		twice := false
		if seen != nil {
			twice, seen[key.Value] = seen[key.Value], true
		} else {
			for j := 0; j < i && !twice; j += 2 {
				twice = node.Content[j].Value == key.Value
			}
		}
		if twice && key.Kind == yaml.ScalarNode && key.Tag != mergeTag {
			w.reader.report(key, diagnostic.Warning, RuleDropped,
				fmt.Sprintf("duplicate key %q: Prow reads the last one only", key.Value))
		}
	}
}
