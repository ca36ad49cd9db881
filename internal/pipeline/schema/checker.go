package schema

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// Refused is the tag of a node that is not to be validated: what is wrong with it
// has been said.
const Refused = "!!refused"

// Template is the tag of a template without quotes that is the whole of a value. Its type is not known before it is
// filled in.
const Template = "!!template"

// Facts are the nodes by which a step refers to something, wherever in it they
// stand.
type Facts struct {
	// Step names the step, such as fleet/cluster; empty where it has no name.
	Step string
	// Inputs are mappings with the fields of an input.
	Inputs []*yaml.Node
	// ConfigRefs are paths into the configuration, Paths those of files and folders.
	ConfigRefs []*yaml.Node
	Paths      []*yaml.Node
}

// Check validates a pipeline by the schema. The path is for messages. It gives the
// facts of each step, by the step's node.
//
// Where only isn't nil, it complains of no other nodes than those, and of the types of those alone that are true there:
// the rest has been validated before. Actions that are not in the schema are unknown, but for those that own tells to
// be a site's own; it may be nil.
func Check(
	path string, root *yaml.Node, only map[*yaml.Node]bool, own func(action string) bool,
) (map[*yaml.Node]*Facts, diagnostic.List) {
	c := &checker{path: path, only: only, own: own, steps: map[*yaml.Node]*Facts{}}
	theFile.check(c, "a pipeline", root)
	return c.steps, c.found
}

// checker validates the YAML of a file by shapes.
type checker struct {
	path  string
	found diagnostic.List
	only  map[*yaml.Node]bool
	own   func(action string) bool
	// keys are the names of fields that were seen.
	keys  map[string]*yaml.Node
	steps map[*yaml.Node]*Facts
	// group and step name what is being validated; step is empty, and facts is nil,
	// outside of steps.
	group, step string
	facts       *Facts
}

func (c *checker) add(node *yaml.Node, rule, advice, format string, args ...any) {
	c.note(diagnostic.Error, node, rule, advice, format, args...)
}

// warn notes what passes, and hardly means what it says.
func (c *checker) warn(node *yaml.Node, rule, advice, format string, args ...any) {
	c.note(diagnostic.Warning, node, rule, advice, format, args...)
}

func (c *checker) note(severity diagnostic.Severity, node *yaml.Node, rule, advice, format string, args ...any) {
	if retyped, filled := c.only[node]; c.only != nil && (!filled || rule == "wrong-type" && !retyped) ||
		node.Tag == Refused {
		return
	}
	c.found = append(c.found, diagnostic.Diagnostic{
		Position: diagnostic.Position{File: c.path, Line: node.Line, Column: node.Column},
		Severity: severity, Rule: rule, Step: c.step, Message: fmt.Sprintf(format, args...), Advice: advice,
	})
}

// kind tells whether a node is of a kind, and complains if it isn't.
func (c *checker) kind(what string, node *yaml.Node, want yaml.Kind, called string) bool {
	if node.Kind == want {
		return true
	}
	if c.only == nil { // what is filled in is no mapping and no list, as before
		c.add(node, "wrong-type", "", "%s must be %s, and this is %s", what, called, describe(node))
	}
	return false
}

// scalar tells whether a node is a scalar of one of the types, and complains if
// it isn't.
func (c *checker) scalar(what string, node *yaml.Node, called string, tags ...string) bool {
	if !c.kind(what, node, yaml.ScalarNode, called) {
		return false
	}
	if slices.Contains(tags, node.ShortTag()) {
		return true
	}
	if node.Tag == Template {
		return false // nothing is known of it yet
	}
	advice := ""
	if templated(node.Value) {
		advice = "write the template without quotes"
	}
	if slices.Contains(tags, "!!str") && node.Value != "" && node.ShortTag() != "!!null" {
		advice = "write it in quotes: " + strconv.Quote(node.Value)
		if c.only != nil {
			advice = "write the template in quotes"
		}
	}
	c.add(node, "wrong-type", advice, "%s must be %s, and this is %s", what, called, describe(node))
	return false
}

func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default: // a scalar, by its tag
	}
	if node.Tag == Template {
		return "a template"
	}
	switch node.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	}
	return "a string"
}
