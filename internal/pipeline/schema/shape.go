package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// shape is what a part of the file must look like. What a node is called in
// messages is given to validate, such as `"timeout"`.
type shape interface {
	check(c *checker, what string, node *yaml.Node)
}

// text is a string.
type text struct {
	// filled: an empty one won't do.
	filled bool
	// most bounds its length, in characters; 0 is unbounded.
	most int
	// choices are all that will do, where there are any.
	choices []string
	// like is what it looks like, and says is how to say so.
	like *regexp.Regexp
	says string
}

func oneOf(choices ...string) text { return text{choices: choices} }

// templated tells whether a text isn't final yet.
func templated(text string) bool { return strings.Contains(text, "{{") }

func (t text) check(c *checker, what string, node *yaml.Node) {
	if !c.scalar(what, node, "a string", "!!str") || templated(node.Value) {
		return
	}
	switch {
	case t.filled && node.Value == "":
		c.add(node, "wrong-value", "", "%s is empty", what)
	case t.most > 0 && utf8.RuneCountInString(node.Value) > t.most:
		c.add(node, "wrong-value", "", "%s %q is longer than %d characters", what, node.Value, t.most)
	case t.choices != nil && !slices.Contains(t.choices, node.Value):
		c.add(node, "wrong-value", diagnostic.DidYouMean(node.Value, t.choices), "%s %q: it must be %s", what, node.Value,
			orList(t.choices))
	case t.like != nil && !t.like.MatchString(node.Value):
		c.add(node, "wrong-value", "", "%s %q: it must be %s", what, node.Value, t.says)
	}
}

// The strings that have a form of their own.
var (
	anyText  = text{}
	someText = text{filled: true}
)

// length is a length of time above 0, in one unit.
type length struct{}

var oneUnit = regexp.MustCompile(`^[0-9]+[hms]$`)

func (length) check(c *checker, what string, node *yaml.Node) {
	if !c.scalar(what, node, "a string", "!!str") || templated(node.Value) {
		return
	}
	if length, err := time.ParseDuration(node.Value); err != nil || length <= 0 || !oneUnit.MatchString(node.Value) {
		c.add(node, "wrong-value", "", "%s %q: it must be a whole number above 0 with h, m or s behind it, such as 90m",
			what, node.Value)
	}
}

// pause is a length of time as Go writes them.
type pause struct{}

func (pause) check(c *checker, what string, node *yaml.Node) {
	if !c.scalar(what, node, "a string", "!!str") || templated(node.Value) {
		return
	}
	if length, err := time.ParseDuration(node.Value); err != nil || length < 0 {
		c.add(node, "wrong-value", "", "%s %q: it must be a length of time such as 30s or 2m", what, node.Value)
	}
}

// path is a string that names a file or a folder, from the pipeline's folder.
type path struct{}

func (path) check(c *checker, what string, node *yaml.Node) {
	someText.check(c, what, node)
	if c.facts != nil && node.Kind == yaml.ScalarNode {
		c.facts.Paths = append(c.facts.Paths, node)
	}
}

// configRef is a string that is a path into the configuration.
type configRef struct{}

var dotted = text{filled: true, like: regexp.MustCompile(`^[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*$`),
	says: "names with dots between them, such as fleet.cluster.name"}

func (configRef) check(c *checker, what string, node *yaml.Node) {
	dotted.check(c, what, node)
	if c.facts != nil && node.Kind == yaml.ScalarNode {
		c.facts.ConfigRefs = append(c.facts.ConfigRefs, node)
	}
}

// flag is true or false.
type flag struct{}

func (flag) check(c *checker, what string, node *yaml.Node) {
	c.scalar(what, node, "true or false", "!!bool")
}

// number is a whole one from 0.
type number struct{ most int }

func (n number) check(c *checker, what string, node *yaml.Node) {
	if !c.scalar(what, node, "a whole number", "!!int") {
		return
	}
	var held int
	if node.Decode(&held) != nil || held < 0 || held > n.most {
		c.add(node, "wrong-value", "", "%s %s: it must be a whole number from 0 to %d", what, node.Value, n.most)
	}
}

// revision is a string, or a number that is written without quotes.
type revision struct{}

func (revision) check(c *checker, what string, node *yaml.Node) {
	if c.scalar(what, node, "a string", "!!str", "!!int", "!!timestamp") && node.Value == "" {
		c.add(node, "wrong-value", "", "%s is empty", what)
	}
}

// list is any number of one shape.
type list struct {
	of shape
	// filled: an empty one won't do.
	filled bool
	// most bounds how many there are; 0 is unbounded.
	most int
	// meant: the schema means those bounds and lets more and less pass, for it uses minLength and maxLength, which bound
	// texts.
	meant bool
}

func (l list) check(c *checker, what string, node *yaml.Node) {
	if !c.kind(what, node, yaml.SequenceNode, "a list") {
		return
	}
	complain, rule := c.add, "wrong-value"
	if l.meant {
		complain, rule = c.warn, "list-length"
	}
	if l.filled && len(node.Content) == 0 {
		complain(node, rule, "remove it", "%s is an empty list", what)
	}
	if l.most > 0 && len(node.Content) > l.most {
		complain(node, rule, "", "%s has %d entries, and at most %d are meant to be there", what, len(node.Content), l.most)
	}
	entry := "an entry of " + what
	for _, item := range node.Content {
		l.of.check(c, entry, item)
	}
}

// names is a mapping of any names to one shape.
type names struct{ of shape }

func (n names) check(c *checker, what string, node *yaml.Node) {
	if !c.kind(what, node, yaml.MappingNode, "a mapping") {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		n.of.check(c, quoted(node.Content[i]), node.Content[i+1])
	}
}

// literalText is a string or a list of strings.
type literalText struct{}

func (literalText) check(c *checker, what string, node *yaml.Node) {
	if node.Kind == yaml.SequenceNode {
		list{of: someText}.check(c, what, node)
		return
	}
	someText.check(c, what, node)
}

// argument is what a runbook is given: a scalar, a list of them, or a value.
type argument struct{}

func (argument) check(c *checker, what string, node *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode:
		value.check(c, what, node)
	case yaml.SequenceNode:
		list{of: argument{}}.check(c, what, node)
	default:
		c.scalar(what, node, "a string, a number or true or false", "!!str", "!!int", "!!float", "!!bool")
	}
}

func quoted(node *yaml.Node) string { return strconv.Quote(node.Value) }

// orList is a list as a sentence has it.
func orList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " or " + items[last]
}
