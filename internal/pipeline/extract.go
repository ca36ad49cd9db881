package pipeline

import (
	"strconv"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/schema"
)

// object gives the fields of a YAML mapping to the types of this package. What is
// missing or of another shape comes as nothing: the shapes have been validated, and
// what was wrong with them been said, before.
type object struct {
	in   *reading
	node *yaml.Node
}

// reading is what is known of the file besides its YAML.
type reading struct {
	path string
	// text is the file's.
	text  string
	facts map[*yaml.Node]*schema.Facts
	// used are the templates that files of parameters are for, by the paths of those that were read.
	mu   sync.Mutex
	used map[string]source
	// config is where configRefs lead; nil where they lead nowhere yet.
	config *Config
	// own tells which actions that the schema doesn't have are a site's own; nil for none.
	own func(action string) bool
}

func (o object) at() diagnostic.Position { return position(o.in.path, o.node) }

// field is the value of a key; nil where there is none.
func (o object) field(name string) *yaml.Node {
	if o.node == nil || o.node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(o.node.Content); i += 2 {
		if o.node.Content[i].Value == name {
			return o.node.Content[i+1]
		}
	}
	return nil
}

// object is the mapping in a field; its node is nil where there is none.
func (o object) object(name string) object {
	if node := o.field(name); node != nil && node.Kind == yaml.MappingNode {
		return object{o.in, node}
	}
	return object{in: o.in}
}

func (o object) exists() bool { return o.node != nil }

// objects are the mappings in a list.
func (o object) objects(name string) []object {
	var all []object
	for _, node := range o.list(name) {
		if node.Kind == yaml.MappingNode {
			all = append(all, object{o.in, node})
		}
	}
	return all
}

func (o object) list(name string) []*yaml.Node {
	if node := o.field(name); node != nil && node.Kind == yaml.SequenceNode {
		return node.Content
	}
	return nil
}

func (o object) text(name string) Text { return textOf(o.in.path, o.field(name)) }

func textOf(path string, node *yaml.Node) Text {
	if node == nil || node.Kind != yaml.ScalarNode {
		return Text{}
	}
	return Text{Value: node.Value, At: position(path, node)}
}

func (o object) texts(name string) []Text {
	var all []Text
	for _, node := range o.list(name) {
		if node.Kind == yaml.ScalarNode {
			all = append(all, textOf(o.in.path, node))
		}
	}
	return all
}

func (o object) truth(name string) bool {
	said, err := strconv.ParseBool(o.text(name).Value)
	return err == nil && said
}

func (o object) number(name string) int {
	number, err := strconv.Atoi(o.text(name).Value)
	if err != nil {
		return 0
	}
	return number
}

// duration is nil where the field is missing or no length of time.
func (o object) duration(name string) *Duration {
	text := o.text(name)
	length, err := time.ParseDuration(text.Value)
	if err != nil {
		return nil
	}
	return &Duration{Duration: length, At: text.At}
}

func (o object) ref() StepRef {
	return StepRef{At: o.at(), ResourceGroup: o.text("resourceGroup"), Step: o.text("step")}
}

func (o object) input() Input { return Input{StepRef: o.ref(), Name: o.text("name")} }

// value reads a mapping that holds a literal, a reference to the configuration or
// an input.
func (o object) value() Value {
	if !o.exists() {
		return Value{}
	}
	value := Value{At: o.at(), ConfigRef: o.text("configRef"), Literal: literal(o.field("value"))}
	if input := o.object("input"); input.exists() {
		read := input.input()
		value.Input = &read
	}
	if held, _ := o.in.config.lookup(value.ConfigRef.Value); held != nil {
		value.Literal = literal(held)
	}
	return value
}

// literal is what a node holds, in Go's terms: nil, string, bool, int, float64,
// []any, map[string]any. Dates are strings, as they are written.
func literal(node *yaml.Node) any {
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.MappingNode:
		held := map[string]any{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			held[node.Content[i].Value] = literal(node.Content[i+1])
		}
		return held
	case node.Kind == yaml.SequenceNode:
		held := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			held = append(held, literal(item))
		}
		return held
	}
	switch node.ShortTag() {
	case "!!null", schema.Refused:
		return nil
	case "!!bool", "!!int", "!!float":
		var held any
		if node.Decode(&held) == nil {
			return held
		}
	}
	return node.Value
}

func (o object) variables(name string) []Variable {
	var all []Variable
	for _, variable := range o.objects(name) {
		all = append(all, Variable{Name: variable.text("name"), Value: variable.value()})
	}
	return all
}
