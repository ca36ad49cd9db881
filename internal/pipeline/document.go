package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/schema"
)

const (
	// maximumSize bounds a file, in bytes: a pipeline of 10,000 steps has a quarter
	// of it.
	maximumSize = 16 << 20
	// maximumDepth bounds how deep mappings and lists may be nested. The schema
	// needs nine.
	maximumDepth = 32
)

// Document reads the YAML of a file that is no pipeline, such as that of a topology, as strictly as that of one.
func Document(path string, content []byte) (*yaml.Node, diagnostic.List) {
	return document(path, content)
}

// Booleans warns of the words in a file that YAML 1.1 takes for true and false, where nothing else of it is validated.
func Booleans(path string, content []byte) diagnostic.List {
	_, found := document(path, content)
	return slices.DeleteFunc(found, func(one diagnostic.Diagnostic) bool { return one.Rule != "yaml-boolean" })
}

// document reads the YAML of a file. What comes back is nil when there is none;
// otherwise it holds no alias, no tag and no key twice, or the list says so.
func document(path string, content []byte) (*yaml.Node, diagnostic.List) {
	return read(path, content, false)
}

// templatedDocument reads the YAML of a pipeline, in which a value may be a template without quotes.
func templatedDocument(path string, content []byte) (*yaml.Node, diagnostic.List) {
	return read(path, content, true)
}

func read(path string, content []byte, templates bool) (*yaml.Node, diagnostic.List) {
	if wrong := unreadable(path, content); wrong != nil {
		return nil, diagnostic.List{*wrong}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, diagnostic.List{problem(diagnostic.Position{File: path, Line: 1, Column: 1}, "yaml-syntax",
			"the file is empty")}
	case err != nil:
		return nil, diagnostic.List{syntax(path, content, err)}
	}
	walk := walker{path: path}
	if templates {
		walk.lines = strings.Split(string(content), "\n")
	}
	walk.node(first.Content[0], 1)
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		walk.found = append(walk.found, syntax(path, content, err))
	default:
		walk.found = append(walk.found, problem(position(path, second.Content[0]), "yaml-document",
			"a file holds one document, and here a second one begins"))
	}
	if walk.tooDeep {
		return nil, walk.found
	}
	return first.Content[0], walk.found
}

func problem(at diagnostic.Position, rule, format string, args ...any) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Position: at, Severity: diagnostic.Error, Rule: rule,
		Message: fmt.Sprintf(format, args...)}
}

func position(path string, node *yaml.Node) diagnostic.Position {
	return diagnostic.Position{File: path, Line: node.Line, Column: node.Column}
}

// unreadable finds what keeps a file from being read as text at all.
func unreadable(path string, content []byte) *diagnostic.Diagnostic {
	if len(content) > maximumSize {
		wrong := problem(diagnostic.Position{File: path}, "yaml-size", "the file has more than the %d bytes that are allowed",
			maximumSize)
		return &wrong
	}
	at := diagnostic.Position{File: path, Line: 1}
	for rest := content; len(rest) > 0; {
		character, size := utf8.DecodeRune(rest)
		at.Column++
		switch {
		case character == utf8.RuneError && size == 1:
			wrong := problem(at, "yaml-encoding", "byte 0x%02x is not UTF-8", rest[0])
			wrong.Advice = "save the file as UTF-8"
			return &wrong
		case character < ' ' && !strings.ContainsRune("\t\n\r", character) || character == 0x7f:
			wrong := problem(at, "yaml-encoding", "control character %U is not allowed in YAML", character)
			wrong.Advice = `write it in double quotes, such as "\x1b"`
			return &wrong
		case character == '\n':
			at.Line, at.Column = at.Line+1, 0
		}
		rest = rest[size:]
	}
	return nil
}

// lineOf is where the YAML library puts the line into its errors.
var lineOf = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntax gives an error of the YAML library its place. The library says which
// line; the column is that of the line's first character.
func syntax(path string, content []byte, err error) diagnostic.Diagnostic {
	prefix := lineOf.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(prefix[1]) // none is 0
	line = max(line, 1)
	says := strings.TrimPrefix(err.Error(), prefix[0])
	lines := strings.Split(string(content), "\n")
	if at, found := tab(lines, line, says); found {
		at.File = path
		wrong := problem(at, "yaml-tab", "a tab indents this line, and YAML allows only spaces there")
		wrong.Advice = "replace it with spaces"
		return wrong
	}
	if wrong := aroundLines(path, lines); wrong != nil {
		return *wrong
	}
	indent := 0
	if len(lines) >= line {
		indent = len(lines[line-1]) - len(strings.TrimLeft(lines[line-1], " "))
	}
	return problem(diagnostic.Position{File: path, Line: line, Column: indent + 1}, "yaml-syntax", "this is not YAML: %s",
		says)
}

// branch is a template that decides which lines a file has.
var branch = regexp.MustCompile(
	`^\s*(\{\{-?\s*(if|range|with|else|end|define|block|template|break|continue)\b[^}]*(\}\})?)`)

// aroundLines finds the first template around lines of a file that is no YAML. Rollout tools fill templates in first.
func aroundLines(path string, lines []string) *diagnostic.Diagnostic {
	for i, line := range lines {
		if found := branch.FindStringSubmatch(line); found != nil {
			at := strings.IndexByte(line, '{')
			wrong := decides(diagnostic.Position{File: path, Line: i + 1, Column: at + 1}, strings.TrimSpace(found[1]))
			return &wrong
		}
	}
	return nil
}

func decides(at diagnostic.Position, template string) diagnostic.Diagnostic {
	wrong := problem(at, "template",
		"%s decides which lines the file has, and files are read before templates are filled in", template)
	wrong.Advice = "write the file without it; within a text, in quotes, a template may decide"
	return wrong
}

// tab finds the tab that indents a line. Of a block of text the YAML library names the line in which it begins; of what
// else a tab ends, often the line before.
func tab(lines []string, from int, says string) (at diagnostic.Position, found bool) {
	last, deep := min(from+1, len(lines)), maximumSize
	switch {
	case strings.Contains(says, "indentation space is expected"):
		last, deep = len(lines), blockIndent(lines[min(from, len(lines)):])
	case !strings.Contains(says, "tab character") && !strings.Contains(says, "cannot start any token"):
		return at, false
	}
	for line := from; line <= last; line++ {
		text := lines[line-1]
		indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 && tab < max(deep, 1) {
			return diagnostic.Position{Line: line, Column: tab + 1}, true
		}
	}
	return at, false
}

// blockIndent is how deep the first line with text is indented.
func blockIndent(lines []string) int {
	for _, line := range lines {
		if text := strings.TrimLeft(line, " "); text != "" {
			return len(line) - len(text)
		}
	}
	return 0
}

// walker finds what YAML allows and pipelines don't have.
type walker struct {
	path string
	// lines are those of a file in which templates may be values; nil elsewhere.
	lines   []string
	found   diagnostic.List
	tooDeep bool
}

func (w *walker) add(node *yaml.Node, rule, advice, format string, args ...any) {
	wrong := problem(position(w.path, node), rule, format, args...)
	wrong.Advice = advice
	w.found = append(w.found, wrong)
}

func (w *walker) node(node *yaml.Node, depth int) {
	if depth > maximumDepth {
		if !w.tooDeep {
			w.add(node, "yaml-depth", "", "this is nested more than %d deep", maximumDepth)
		}
		w.tooDeep = true
		return
	}
	switch {
	case node.Kind == yaml.AliasNode:
		w.add(node, "yaml-alias", "write the value out", "*%s is an alias, which is not allowed here", node.Value)
		refuse(node)
		return
	case node.Anchor != "":
		w.add(node, "yaml-alias", "write values out where they are used", "&%s is an anchor, which is not allowed here",
			node.Anchor)
	}
	if node.Style&yaml.TaggedStyle != 0 {
		w.add(node, "yaml-tag", "remove it", "%s is a tag, which is not allowed here", node.Tag)
		node.Tag, node.Style = "", node.Style&^yaml.TaggedStyle
	}
	w.truth(node)
	if node.Kind == yaml.MappingNode && !w.keys(node) {
		return
	}
	for i, child := range node.Content {
		if isKey := node.Kind == yaml.MappingNode && i%2 == 0; !isKey && w.unquoted(child) {
			child.Style = node.Style & yaml.FlowStyle // where it stands decides what it can be filled with
			continue
		}
		w.node(child, depth+1)
	}
}

// truths are the words that YAML 1.1 takes for true and false, besides those two. Rollout tools read YAML 1.1:
// https://yaml.org/type/bool.html
func truths(text string) (truth, is bool) {
	switch text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// truth takes words for true and false, as rollout tools do.
func (w *walker) truth(node *yaml.Node) {
	truth, is := truths(node.Value)
	if !is || node.Kind != yaml.ScalarNode || node.Style != 0 || node.ShortTag() != "!!str" {
		return
	}
	w.add(node, "yaml-boolean", fmt.Sprintf("write %t, or, if the text is meant, %q", truth, node.Value),
		"%s is %t in YAML 1.1, which rollout tools read", node.Value, truth)
	w.found[len(w.found)-1].Severity = diagnostic.Warning
	node.Value, node.Tag = strconv.FormatBool(truth), "!!bool"
}

// keys validates the keys of a mapping. It is false when the mapping is none: {{ .a }}
// without quotes is one with a mapping as its key.
func (w *walker) keys(mapping *yaml.Node) bool {
	seen := make(map[string]*yaml.Node, len(mapping.Content)/2)
	for i := 0; i < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		if key.Kind != yaml.ScalarNode {
			if mapping.Style&yaml.FlowStyle != 0 && len(key.Content) > 0 && branch.MatchString("{{"+key.Content[0].Value+" ") {
				w.found = append(w.found, decides(position(w.path, mapping), "{{ "+key.Content[0].Value+" }}"))
				refuse(mapping)
				return false
			}
			if mapping.Style&yaml.FlowStyle != 0 {
				w.add(mapping, "yaml-key", "if it is a template, write it in quotes: '{{ .a.b }}'",
					"this is a mapping with a mapping as its key")
				refuse(mapping)
				return false
			}
			w.add(key, "yaml-key", "", "a key must be a single word or text")
			refuse(key)
			continue
		}
		if key.Tag == "!!merge" {
			w.add(key, "yaml-alias", "write the fields out", "<< merges another mapping, which is not allowed here")
			continue
		}
		if before := seen[key.Value]; before != nil {
			w.add(key, "yaml-duplicate-key", "remove one of the two", "%q is here twice; it is also on line %d", key.Value,
				before.Line)
			continue
		}
		seen[key.Value] = key
	}
	return true
}

// refuse takes a node out of what is validated and used.
func refuse(node *yaml.Node) {
	*node = yaml.Node{Kind: yaml.ScalarNode, Tag: schema.Refused, Line: node.Line, Column: node.Column}
}
