package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// Bounds of a catalogue. Real ones have a thousand signatures in all.
const (
	maxFiles      = 2_000
	maxFile       = 8 << 20 // bytes
	maxNodes      = 1 << 17 // of a file's YAML
	maxDepth      = 16
	maxSignatures = 20_000
	maxLiterals   = 100_000
	maxRules      = 1_000 // attribute patterns, and kinds
	maxList       = 1_000
	maxText       = 4 << 10 // bytes of a value
	maxExample    = 64 << 10
)

// reader reads one file, strictly.
type reader struct {
	file  string
	found diagnostic.List
}

func (r *reader) at(node *yaml.Node) diagnostic.Position {
	return diagnostic.Position{File: r.file, Line: node.Line, Column: node.Column}
}

func (r *reader) refuse(node *yaml.Node, rule, format string, args ...any) {
	r.found = append(r.found, diagnostic.Diagnostic{
		Position: r.at(node), Severity: diagnostic.Error, Rule: rule, Message: fmt.Sprintf(format, args...),
	})
}

// document is the file's one document; nil if there is none, or none that can be used.
func (r *reader) document(content []byte) *yaml.Node {
	nowhere := &yaml.Node{Line: 1, Column: 1}
	switch {
	case len(content) > maxFile:
		r.refuse(nowhere, "catalogue-size", "the file has more than %d bytes", maxFile)
		return nil
	case !utf8.Valid(content):
		r.refuse(nowhere, "catalogue-yaml", "the file is not UTF-8")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	if err := decoder.Decode(&first); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		r.syntax(err)
		return nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		if second.Line == 0 {
			second = *nowhere
		}
		r.refuse(&second, "catalogue-yaml", "a second document begins here, and a file has one")
		return nil
	}
	nodes := 0
	if !r.plain(first.Content[0], 1, &nodes) {
		return nil
	}
	return first.Content[0]
}

// lineOf is where the YAML library puts the line into its errors.
var lineOf = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

func (r *reader) syntax(err error) {
	prefix := lineOf.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(prefix[1]) // none is 0
	r.refuse(&yaml.Node{Line: max(line, 1), Column: 1}, "catalogue-yaml", "invalid YAML: %s",
		strings.TrimPrefix(err.Error(), prefix[0]))
}

// plain says that there are no anchors, no merges, and no more than can be looked at.
func (r *reader) plain(node *yaml.Node, depth int, nodes *int) bool {
	*nodes++
	switch {
	case depth > maxDepth:
		r.refuse(node, "catalogue-size", "nested more than %d levels deep", maxDepth)
		return false
	case *nodes > maxNodes:
		r.refuse(node, "catalogue-size", "more than %d nodes", maxNodes)
		return false
	case node.Kind == yaml.AliasNode, node.Anchor != "":
		r.refuse(node, "catalogue-yaml", "anchors and aliases are not allowed")
		return false
	}
	for _, child := range node.Content {
		if !r.plain(child, depth+1, nodes) {
			return false
		}
	}
	return true
}

// fields says what to do with the value of each key that a mapping may have.
type fields map[string]func(*yaml.Node)

// mapping reads one; a key that isn't known, or stands twice, is refused.
func (r *reader) mapping(node *yaml.Node, known fields) {
	if node.Kind != yaml.MappingNode {
		r.refuse(node, "catalogue-type", "%s where a mapping belongs", describe(node))
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		read, ok := known[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !ok:
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			r.refuse(key, "catalogue-unknown-key", "unknown key %.60q", key.Value)
			r.found[len(r.found)-1].Advice = diagnostic.DidYouMean(key.Value, names)
		case seen[key.Value]:
			r.refuse(key, "catalogue-duplicate", "duplicate key %q", key.Value)
		default:
			seen[key.Value] = true
			read(value)
		}
	}
}

func describe(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a mapping"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%.40q", node.Value)
}

// list reads each item.
func (r *reader) list(node *yaml.Node, limit int, each func(*yaml.Node)) {
	switch {
	case node.Kind != yaml.SequenceNode:
		r.refuse(node, "catalogue-type", "%s where a list belongs", describe(node))
	case len(node.Content) > limit:
		r.refuse(node, "catalogue-size", "more than %d items", limit)
	default:
		for _, item := range node.Content {
			each(item)
		}
	}
}

// text reads a string that isn't empty. Numbers and booleans are what they look like: quotes make strings of them.
func (r *reader) text(to *string, limit int) func(*yaml.Node) {
	return func(node *yaml.Node) {
		switch {
		case node.Kind != yaml.ScalarNode || node.Tag == "!!null":
			r.refuse(node, "catalogue-type", "%s where a text belongs", describe(node))
		case node.Tag != "!!str" && node.Tag != "!!timestamp":
			r.refuse(node, "catalogue-type", "%s is no text: put it in quotes", describe(node))
		case strings.TrimSpace(node.Value) == "":
			r.refuse(node, "catalogue-type", "an empty text")
		case len(node.Value) > limit:
			r.refuse(node, "catalogue-size", "a text of more than %d bytes", limit)
		default:
			*to = node.Value
		}
	}
}

func (r *reader) texts(to *[]string, limit int) func(*yaml.Node) {
	return func(node *yaml.Node) {
		r.list(node, maxList, func(item *yaml.Node) {
			var text string
			r.text(&text, limit)(item)
			if text != "" {
				*to = append(*to, text)
			}
		})
	}
}

// oneOrMore reads a list, or a text that stands for a list of one.
func (r *reader) oneOrMore(to *[]string) func(*yaml.Node) {
	return func(node *yaml.Node) {
		if node.Kind == yaml.SequenceNode {
			r.texts(to, maxText)(node)
			return
		}
		var text string
		r.text(&text, maxText)(node)
		if text != "" {
			*to = append(*to, text)
		}
	}
}

func (r *reader) date(to *time.Time) func(*yaml.Node) {
	return func(node *yaml.Node) {
		day, err := time.Parse(time.DateOnly, node.Value)
		if err != nil || node.Kind != yaml.ScalarNode {
			r.refuse(node, "catalogue-type", "%s is no date such as 2026-11-30", describe(node))
			return
		}
		*to = day
	}
}

func (r *reader) count(to *int) func(*yaml.Node) {
	return func(node *yaml.Node) {
		n, err := strconv.Atoi(node.Value)
		if err != nil || node.Tag != "!!int" || n < 1 || n > 1_000_000 {
			r.refuse(node, "catalogue-type", "%s is no count from 1 to 1,000,000", describe(node))
			return
		}
		*to = n
	}
}

// expression checks one as it is used: RE2, within bounds.
func (r *reader) expression(node *yaml.Node, text string) *regexp.Regexp {
	compiled, err := regexp.Compile(text)
	if err != nil {
		r.refuse(node, "catalogue-expression", "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	return compiled
}
