package topology

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

func (r *reader) at(node *yaml.Node) diagnostic.Position {
	return diagnostic.Position{File: r.path, Line: node.Line, Column: node.Column}
}

// mapping tells whether a node is one, and says so where it isn't.
func (r *reader) mapping(what string, node *yaml.Node) bool {
	if node.Kind != yaml.MappingNode {
		r.add(r.at(node), "wrong-type", "", "%s must be a mapping", what)
		return false
	}
	return true
}

// fields are what a mapping holds, by names. Those that are not known are said: other tools may read them.
func (r *reader) fields(what string, node *yaml.Node, known ...string) map[string]*yaml.Node {
	held := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind == yaml.ScalarNode && !slices.Contains(known, key.Value) {
			r.add(r.at(key), "unknown-field", r.spelling.DidYouMean(key.Value, known), "%s has no field %q", what, key.Value)
			r.found[len(r.found)-1].Severity = diagnostic.Warning
			continue
		}
		held[key.Value] = node.Content[i+1]
	}
	return held
}

// list is what a list holds; nothing where there is none.
func (r *reader) list(name string, node *yaml.Node) []*yaml.Node {
	if node == nil || node.ShortTag() == "!!null" {
		return nil
	}
	if node.Kind != yaml.SequenceNode {
		r.add(r.at(node), "wrong-type", "", "%q must be a list", name)
		return nil
	}
	return node.Content
}

// text is a scalar; empty where there is none.
func (r *reader) text(node *yaml.Node) pipeline.Text {
	if node == nil || node.ShortTag() == "!!null" {
		return pipeline.Text{}
	}
	if node.Kind != yaml.ScalarNode {
		r.add(r.at(node), "wrong-type", "", "this must be a string")
		return pipeline.Text{}
	}
	return pipeline.Text{Value: node.Value, At: r.at(node)}
}

// metadata is a text of the metadata; empty where there is none.
func (r *reader) metadata(node *yaml.Node, key string) pipeline.Text {
	if node == nil || node.Kind != yaml.MappingNode {
		return pipeline.Text{}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return r.text(node.Content[i+1])
		}
	}
	return pipeline.Text{}
}
