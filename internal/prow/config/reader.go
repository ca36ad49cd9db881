package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/prow/plainyaml"
)

const mergeTag = "!!merge"

// UnknownField is a key that Prow doesn't know and therefore drops.
type UnknownField struct {
	// Path leads to it, such as presubmits.org/repo[3].spek.
	Path     string
	Position diagnostic.Position
}

// reader decodes one file, and remembers what is wrong with it.
type reader struct {
	file       string
	found      diagnostic.List
	unknown    []UnknownField
	unreadable bool
	// said keeps what aliases repeat from being said again.
	said map[said]bool
	// more are the findings that were left out, and the worst of them.
	more  int
	worst diagnostic.Diagnostic
	jobs  int
	plain *plainyaml.Reader
}

// said is one thing that is wrong with one node.
type said struct {
	node *yaml.Node
	rule string
}

// first is whether this was not said yet.
func (r *reader) first(node *yaml.Node, rule string) bool {
	if r.said == nil {
		r.said = map[said]bool{}
	}
	key := said{node, rule}
	before := r.said[key]
	r.said[key] = true
	return !before
}

func (r *reader) at(node *yaml.Node) diagnostic.Position {
	return diagnostic.Position{File: r.file, Line: node.Line, Column: node.Column}
}

// maximumFound bounds what is said of one file: somebody's generated megabytes may have one mistake in each line.
const maximumFound = 100

func (r *reader) report(node *yaml.Node, severity diagnostic.Severity, rule, message string) {
	if len(r.found) >= maximumFound {
		if r.more++; r.more == 1 || severity == diagnostic.Error {
			r.worst = diagnostic.Diagnostic{Position: r.at(node), Severity: severity, Rule: rule}
		}
		return
	}
	if r.first(node, rule) {
		r.found = append(r.found, diagnostic.Diagnostic{Position: r.at(node), Severity: severity, Rule: rule,
			Message: message})
	}
}

// mismatch is a value of another type than Prow expects, at which it refuses the
// whole configuration. What should have been read here is missing from ours.
func (r *reader) mismatch(node *yaml.Node, path, want string) {
	r.report(node, diagnostic.Error, RuleUnreadable, fmt.Sprintf("%s: expected %s, got %s", path, want, describe(node)))
	r.unreadable = true
}

func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return strconv.Quote(node.Value)
	}
}

// resolve follows aliases. A null is nil: to Prow it is the same as no value.
func resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind == yaml.ScalarNode && isNull(node) {
		return nil
	}
	return node
}

// field is one entry of a mapping.
type field struct {
	// name is the key in lower case: Prow's JSON decoder takes any.
	name  string
	key   *yaml.Node
	value *yaml.Node
	// written is the key as it is in the file, inside the path of the mapping that has it.
	written, inside string
}

// path leads to the field. It is put together where it is needed: some hundred thousand fields are as they should be.
func (f field) path() string {
	if f.inside == "" {
		return f.written
	}
	return f.inside + "." + f.written
}

// fields gives each entry of a mapping to set, which is false for a key that it
// doesn't know.
func (r *reader) fields(node *yaml.Node, path string, set func(field) bool) {
	r.entries(node, path, func(f field) {
		f.name = strings.ToLower(f.name)
		if !set(f) && len(r.unknown) < maximumFound && r.first(f.key, "unknown") {
			r.unknown = append(r.unknown, UnknownField{Path: f.path(), Position: r.at(f.key)})
		}
	})
}

// entries gives each entry of a mapping to set, in the order in which they count:
// what comes later overwrites. A merge key is where it stands, as in Prow's YAML.
func (r *reader) entries(node *yaml.Node, path string, set func(field)) {
	if node = resolve(node); node == nil {
		return
	}
	if node.Kind != yaml.MappingNode {
		r.mismatch(node, path, "a mapping")
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			r.mismatch(key, path, "a key")
		case key.Tag == mergeTag:
			r.merged(value, path, set)
		default:
			name := keyText(key)
			set(field{name: name, written: name, key: key, value: value, inside: path})
		}
	}
}

// merged are the entries of one mapping or of several, of which the first counts.
func (r *reader) merged(node *yaml.Node, path string, set func(field)) {
	if node = resolve(node); node == nil || node.Kind != yaml.SequenceNode {
		if node != nil {
			r.entries(node, path, set)
		}
		return
	}
	for i := len(node.Content) - 1; i >= 0; i-- {
		r.entries(node.Content[i], path, set)
	}
}

// each gives each item of a list to take.
func (r *reader) each(node *yaml.Node, path string, take func(item *yaml.Node, path string)) {
	if node = resolve(node); node == nil {
		return
	}
	if node.Kind != yaml.SequenceNode {
		r.mismatch(node, path, "a list")
		return
	}
	for i, item := range node.Content {
		take(item, path+"["+strconv.Itoa(i)+"]")
	}
}

// text is a string. Prow takes no number and no boolean for one, with exceptions
// that nobody relies on.
func (r *reader) text(f field) string {
	if node := resolve(f.value); node != nil && node.Kind == yaml.ScalarNode && isText(node) {
		return node.Value
	}
	return r.textOf(f.value, f.path())
}

func (r *reader) textOf(node *yaml.Node, path string) string {
	if node = resolve(node); node == nil {
		return ""
	}
	if node.Kind != yaml.ScalarNode || !isText(node) {
		r.mismatch(node, path, "a string")
		return ""
	}
	return node.Value
}

// texts is a list of strings; nil where there is none.
func (r *reader) texts(f field) []string {
	if resolve(f.value) == nil {
		return nil
	}
	list := make([]string, 0, len(resolve(f.value).Content))
	r.each(f.value, f.path(), func(item *yaml.Node, path string) { list = append(list, r.textOf(item, path)) })
	return list
}

// labels is a mapping of strings; nil where there is none.
func (r *reader) labels(f field) map[string]string {
	var labels map[string]string
	r.entries(f.value, f.path(), func(f field) {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[f.name] = r.text(f)
	})
	return labels
}

// truth is a boolean; ok is false where there is none.
func (r *reader) truth(f field) (value, ok bool) {
	node := resolve(f.value)
	if node == nil {
		return false, false
	}
	value, ok = asBool(node)
	if !ok {
		r.mismatch(node, f.path(), "a boolean")
	}
	return value, ok
}

func (r *reader) yes(f field) bool {
	value, _ := r.truth(f)
	return value
}

// number is an integer; ok is false where there is none.
func (r *reader) number(f field) (value int, ok bool) {
	node := resolve(f.value)
	if node == nil {
		return 0, false
	}
	value, ok = asInt(node)
	if !ok {
		r.mismatch(node, f.path(), "an integer")
	}
	return value, ok
}

// duration is one in Go's form, such as 10m; nil where there is none.
func (r *reader) duration(f field) *time.Duration {
	node := resolve(f.value)
	if node == nil {
		return nil
	}
	value, err := time.ParseDuration(node.Value)
	if node.Kind != yaml.ScalarNode || !isText(node) || err != nil {
		r.mismatch(node, f.path(), "a duration such as 10m")
		return nil
	}
	return &value
}

// located is a string with its place; nil where there is none.
func (r *reader) located(f field) *Located {
	if resolve(f.value) == nil {
		return nil
	}
	return &Located{Value: r.text(f), Position: r.at(f.value)}
}

// Located is a value and where it stands.
type Located struct {
	Value string
	// Position is that of the value; a default that nobody wrote has the file only.
	Position diagnostic.Position
}
