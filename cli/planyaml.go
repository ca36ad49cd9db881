package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isYAMLFile tells by its name that a file is to be YAML.
func isYAMLFile(path string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(path)))
}

// yamlOf writes a JSON document as YAML, with the members in their order.
func yamlOf(document []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	root, err := yamlNode(decoder)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	return text.Bytes(), encoder.Close()
}

func yamlNode(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch value := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		if value == '{' {
			node.Kind = yaml.MappingNode // its names and values follow in turn
		}
		for decoder.More() {
			child, err := yamlNode(decoder)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, child)
		}
		if len(node.Content) == 0 {
			node.Style = yaml.FlowStyle
		}
		_, err := decoder.Token() // the closing one
		return node, err
	case string:
		return yamlString(value), nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(value)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}, nil
}

// plainString are strings that every reader of YAML takes as such without quotes, unless they are words of it.
var plainString = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

func isWordOfYAML(text string) bool {
	words := []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
	return slices.Contains(words, strings.ToLower(text))
}

func yamlString(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if !plainString.MatchString(text) || isWordOfYAML(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// jsonOf reads what yamlOf wrote, and nothing else: any other YAML may say other things to other readers.
func jsonOf(text []byte) ([]byte, error) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) // as git leaves it on Windows
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	if err := decoder.Decode(&root); err != nil {
		return nil, err
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	var document bytes.Buffer
	if err := writeJSON(&document, root.Content[0]); err != nil {
		return nil, err
	}
	again, err := yamlOf(document.Bytes())
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, text) {
		return nil, errors.New("it is not as plan -o wrote it")
	}
	return document.Bytes(), nil
}

func writeJSON(to *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		return writeJSONs(to, node)
	case yaml.ScalarNode:
		if node.ShortTag() != "!!str" {
			if !json.Valid([]byte(node.Value)) {
				return fmt.Errorf("line %d: %q is not JSON's", node.Line, node.Value)
			}
			to.WriteString(node.Value)
			return nil
		}
		quoted, err := json.Marshal(node.Value)
		to.Write(quoted)
		return err
	default:
		return fmt.Errorf("line %d: aliases are not taken", node.Line)
	}
}

// writeJSONs writes a mapping or a sequence.
func writeJSONs(to *bytes.Buffer, node *yaml.Node) error {
	mapping := node.Kind == yaml.MappingNode
	opening, closing := byte('['), byte(']')
	if mapping {
		opening, closing = '{', '}'
	}
	to.WriteByte(opening)
	for i, child := range node.Content {
		switch {
		case i == 0:
		case mapping && i%2 == 1:
			to.WriteByte(':')
		default:
			to.WriteByte(',')
		}
		if mapping && i%2 == 0 && (child.Kind != yaml.ScalarNode || child.ShortTag() != "!!str") {
			return fmt.Errorf("line %d: a name must be a string", child.Line)
		}
		if err := writeJSON(to, child); err != nil {
			return err
		}
	}
	to.WriteByte(closing)
	return nil
}
