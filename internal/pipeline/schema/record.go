package schema

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// record is a mapping whose fields are known.
type record struct {
	// called is what it is called in messages, such as "a Shell step".
	called string
	fields []field
	// demands, where there are any, say which fields must be there together.
	demands demand
	// then, where it isn't nil, looks at what the fields hold.
	then func(c *checker, node *yaml.Node)
	// others, where it isn't nil, is the shape of any other field.
	others shape
}

// field is one key of a record.
type field struct {
	// called is the name as messages have it.
	name, called string
	shape        shape
	required     bool
}

// must are fields that have to be there; may are those that may.
func must(is shape, names ...string) []field { return fieldsOf(is, true, names) }
func may(is shape, names ...string) []field  { return fieldsOf(is, false, names) }

func fieldsOf(is shape, required bool, names []string) []field {
	fields := make([]field, 0, len(names))
	for _, name := range names {
		fields = append(fields, field{name, strconv.Quote(name), is, required})
	}
	return fields
}

func (r record) check(c *checker, what string, node *yaml.Node) {
	if !c.kind(what, node, yaml.MappingNode, "a mapping") {
		return
	}
	have := make([]string, 0, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, held := node.Content[i], node.Content[i+1]
		known := slices.IndexFunc(r.fields, func(f field) bool { return f.name == key.Value })
		if known < 0 {
			if r.others != nil {
				r.others.check(c, quoted(key), held)
				continue
			}
			if key.Kind == yaml.ScalarNode && key.Tag != "!!merge" {
				c.add(key, "unknown-field", diagnostic.DidYouMean(key.Value, r.names()), "%s has no field %q", r.called, key.Value)
			}
			continue
		}
		node.Content[i] = c.shared(key)
		r.fields[known].shape.check(c, r.fields[known].called, held)
		if _, isFlag := r.fields[known].shape.(flag); !isFlag || held.Tag != "!!bool" || held.Value == "true" {
			have = append(have, key.Value)
		}
	}
	r.complete(c, node, have)
	if r.then != nil {
		r.then(c, node)
	}
}

// shared is one key in the place of all that are the same. Nobody asks for the place of a field that is known; half of
// the nodes of a file are the names of such.
func (c *checker) shared(key *yaml.Node) *yaml.Node {
	if known := c.keys[key.Value]; known != nil {
		return known
	}
	if c.keys == nil {
		c.keys = map[string]*yaml.Node{}
	}
	c.keys[key.Value] = key
	return key
}

func (r record) names() []string {
	names := make([]string, 0, len(r.fields))
	for _, f := range r.fields {
		names = append(names, f.name)
	}
	return names
}

// complete says what a record lacks. A field that is false counts as lacking
// where a demand names it, and as there where it is merely required.
func (r record) complete(c *checker, node *yaml.Node, have []string) {
	for _, f := range r.fields {
		if f.required && fieldOf(node, f.name) == nil {
			c.add(node, "missing-field", "", "%s needs %q", r.called, f.name)
		}
	}
	if r.demands == nil {
		return
	}
	if missing, because := r.demands(node, have); len(missing) > 0 {
		c.add(node, "missing-field", "", "%s %sneeds %s", r.called, because, andList(missing))
	}
}

// demand says which fields a mapping lacks, and why it needs them. have are the
// fields that are there.
type demand func(from *yaml.Node, have []string) (missing []string, because string)

// demandsBy says what is needed by the value of a field.
func demandsBy(by string, each map[string][]string) demand {
	return func(from *yaml.Node, have []string) ([]string, string) {
		chosen := textOf(from, by)
		return lacking(each[chosen], have), "whose " + by + " is " + chosen + " "
	}
}

// exactlyOne of the fields must be there.
func exactlyOne(fields ...string) demand {
	return func(_ *yaml.Node, have []string) ([]string, string) {
		if found := len(fields) - len(lacking(fields, have)); found != 1 {
			return []string{"exactly one of " + orList(fields)}, ""
		}
		return nil, ""
	}
}

// either of the sets must be there whole. What is said to be missing is of the
// set that lacks least.
func either(sets ...[]string) demand {
	return func(_ *yaml.Node, have []string) ([]string, string) {
		missing := lacking(sets[0], have)
		for _, set := range sets[1:] {
			if less := lacking(set, have); len(less) < len(missing) {
				missing = less
			}
		}
		return missing, ""
	}
}

func lacking(wanted, have []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return slices.Contains(have, name) })
}

func andList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// fieldOf is what a mapping holds under a name; nil where there is no such thing.
func fieldOf(mapping *yaml.Node, name string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// textOf is the scalar that a mapping holds under a name; empty where there is no
// such thing.
func textOf(mapping *yaml.Node, name string) string {
	if held := fieldOf(mapping, name); held != nil && held.Kind == yaml.ScalarNode {
		return held.Value
	}
	return ""
}
