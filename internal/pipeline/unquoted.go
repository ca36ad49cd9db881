package pipeline

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/pipeline/schema"
)

// unquoted takes a template that is the whole of a value, and in no quotes, for that value. YAML takes {{ .a.b }} for a
// mapping with a mapping as its key; rollout tools fill templates in before they read YAML, and never see it.
func (w *walker) unquoted(mapping *yaml.Node) bool {
	if w.lines == nil || mapping.Kind != yaml.MappingNode || mapping.Style&yaml.FlowStyle == 0 ||
		len(mapping.Content) != 2 || !empty(mapping.Content[1]) {
		return false
	}
	key := mapping.Content[0]
	if key.Kind != yaml.MappingNode || len(key.Content) != 2 || key.Content[0].Kind != yaml.ScalarNode ||
		!empty(key.Content[1]) {
		return false
	}
	text := w.from(mapping)
	end := strings.Index(text, "}}")
	if !strings.HasPrefix(text, "{{") || end < 0 || branch.MatchString(text) {
		return false
	}
	*mapping = yaml.Node{Kind: yaml.ScalarNode, Tag: schema.Template, Value: text[:end+len("}}")],
		Line: mapping.Line, Column: mapping.Column}
	return true
}

// from is what a line holds from where a node begins. YAML knows more ends of lines than files of ours have; then it is
// empty.
func (w *walker) from(node *yaml.Node) string {
	if node.Line > len(w.lines) {
		return ""
	}
	line := []rune(w.lines[node.Line-1])
	return string(line[min(node.Column-1, len(line)):])
}

func empty(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" && node.Value == ""
}

var errNoScalar = errors.New("a template without quotes must be filled with a text, a number, or true or false, " +
	"and not with more of the file")

// scalarOf is what YAML makes of the text that a template without quotes was filled with, where it stands: in a flow
// collection, such as a list in brackets, commas and brackets end a value.
func scalarOf(text string, inFlow bool) (*yaml.Node, error) {
	around := "a: %s"
	if inFlow {
		around = "[%s]"
	}
	var read yaml.Node
	err := yaml.Unmarshal(fmt.Appendf(nil, around, text), &read)
	if err != nil || len(read.Content) != 1 {
		return nil, errNoScalar
	}
	held := read.Content[0].Content
	if !inFlow && len(held) == 2 {
		held = held[1:]
	}
	if inFlow && len(held) == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}, nil
	}
	if len(held) != 1 || held[0].Kind != yaml.ScalarNode || held[0].Anchor != "" || held[0].Style&yaml.TaggedStyle != 0 {
		return nil, errNoScalar
	}
	if truth, is := truths(held[0].Value); is && held[0].Style == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(truth)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: held[0].ShortTag(), Style: held[0].Style, Value: held[0].Value}, nil
}
