package catalogue

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// Invalid is a catalogue that can't be used, with all that is wrong with it.
type Invalid struct{ Found diagnostic.List }

func (e *Invalid) Error() string {
	if len(e.Found) == 0 {
		return "invalid catalogue"
	}
	more := ""
	if n := e.Found.Errors(); n > 1 {
		more = fmt.Sprintf(" (and %d more)", n-1)
	}
	return "invalid catalogue: " + e.Found[0].String() + more
}

// Empty is a catalogue of nothing: what is used on the first day.
func Empty() *Catalogue {
	c := &Catalogue{}
	if err := c.compile(); err != nil {
		panic(err) // there is nothing in it that could be refused
	}
	return c
}

// Load reads all *.yaml and *.yml files of a folder and below, in the order of their paths. A catalogue with anything
// wrong in it is refused as [*Invalid]: half a catalogue would call known failures new.
func Load(folder string) (*Catalogue, error) {
	var l loader
	paths, err := yamlFiles(folder)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	for _, path := range paths {
		content, err := readBounded(path)
		if err != nil {
			return nil, fmt.Errorf("read catalogue: %w", err)
		}
		l.read(path, content)
	}
	return l.finish()
}

// Parse reads the text of one file.
func Parse(name string, content []byte) (*Catalogue, error) {
	var l loader
	l.read(name, content)
	return l.finish()
}

func yamlFiles(folder string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch extension := filepath.Ext(path); {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != folder:
			return fs.SkipDir
		case entry.IsDir() || extension != ".yaml" && extension != ".yml":
			return nil
		case len(paths) == maxFiles:
			return fmt.Errorf("%s: more than %d files", folder, maxFiles)
		}
		paths = append(paths, path)
		return nil
	})
	return paths, err
}

// readBounded reads one byte more than is allowed, so that the reader refuses it with its place.
func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}

// loader gathers a catalogue from its files.
type loader struct {
	c        Catalogue
	found    diagnostic.List
	ids      map[string]diagnostic.Position
	literals int
}

func (l *loader) finish() (*Catalogue, error) {
	if l.found.Errors() == 0 {
		l.checkKinds()
	}
	l.found.Sort()
	if l.found.Errors() > 0 {
		return nil, &Invalid{l.found}
	}
	if err := l.c.compile(); err != nil {
		return nil, fmt.Errorf("compile catalogue: %w", err)
	}
	return &l.c, nil
}

func (l *loader) read(name string, content []byte) {
	r := &reader{file: name}
	if root := r.document(content); root != nil {
		r.mapping(root, fields{
			"kinds": func(node *yaml.Node) {
				r.list(node, maxRules, func(item *yaml.Node) { l.kind(r, item) })
			},
			"attributes": func(node *yaml.Node) {
				r.list(node, maxRules, func(item *yaml.Node) { l.attribute(r, item) })
			},
			"signatures": func(node *yaml.Node) {
				r.list(node, maxSignatures, func(item *yaml.Node) { l.signature(r, item) })
			},
		})
	}
	l.found = append(l.found, r.found...)
}

func (l *loader) kind(r *reader, node *yaml.Node) {
	k := kind{producer: DefaultProducer, position: r.at(node)}
	var files []string
	r.mapping(node, fields{
		"kind":     r.text(&k.name, maxText),
		"files":    r.oneOrMore(&files),
		"producer": r.text(&k.producer, maxText),
	})
	if k.name == "" || len(files) == 0 {
		r.refuse(node, "catalogue-missing", "a kind needs a name (kind) and patterns of its files (files)")
	}
	for _, pattern := range files {
		k.files = append(k.files, glob(pattern))
	}
	l.unique(r, node, "kind", k.name)
	if l.c.kinds = append(l.c.kinds, k); len(l.c.kinds) > maxRules {
		r.refuse(node, "catalogue-size", "more than %d kinds of file", maxRules)
	}
}

// unique refuses a name that another file, or this one, has already.
func (l *loader) unique(r *reader, node *yaml.Node, what, name string) {
	if name == "" {
		return
	}
	if l.ids == nil {
		l.ids = map[string]diagnostic.Position{}
	}
	first, taken := l.ids[what+" "+name]
	if taken {
		r.refuse(node, "catalogue-duplicate", "duplicate %s %q, first at %s", what, name, first)
		return
	}
	l.ids[what+" "+name] = r.at(node)
}

// valueGroup is the group of a pattern that holds the value.
const valueGroup = "value"

func (l *loader) attribute(r *reader, node *yaml.Node) {
	a := &attribute{position: r.at(node), values: map[string]string{}}
	var from, pattern string
	before := len(r.found)
	r.mapping(node, fields{
		"name": r.text(&a.name, maxText), "from": r.text(&from, maxText), "kind": r.oneOrMore(&a.kinds),
		"literal": r.text(&a.literal, maxText), "pattern": r.text(&pattern, maxText),
		"values": func(value *yaml.Node) { r.pairs(value, a.values) },
	})
	a.from = source(from)
	if a.pattern = r.expression(node, pattern); a.pattern == nil {
		return
	}
	a.group = a.pattern.SubexpIndex(valueGroup)
	switch {
	case len(r.found) > before: // what is missing may be what was refused
	case a.name == "" || pattern == "":
		r.refuse(node, "catalogue-missing", "an attribute needs a name and a pattern")
	case a.from != fromName && a.from != fromFile && a.from != fromLine:
		r.refuse(node, "catalogue-value", "from %q is none of name, line, file", from)
	case a.group < 0:
		r.refuse(node, "catalogue-expression", "the pattern has no group (?P<value>…)")
	case a.from == fromLine && a.literal == "":
		r.refuse(node, "catalogue-missing", "a pattern for lines needs a literal that these lines have")
	case a.from != fromLine && (a.literal != "" || len(a.kinds) > 0):
		r.refuse(node, "catalogue-value", "literal and kind are for patterns from lines")
	}
	l.literal(r, node, a.literal)
	if l.c.attributes = append(l.c.attributes, a); len(l.c.attributes) > maxRules {
		r.refuse(node, "catalogue-size", "more than %d attribute patterns", maxRules)
	}
}

// pairs reads a mapping from texts to texts.
func (r *reader) pairs(node *yaml.Node, to map[string]string) {
	if node.Kind != yaml.MappingNode {
		r.refuse(node, "catalogue-type", "%s where a mapping belongs", describe(node))
		return
	}
	for i := 0; i < len(node.Content); i += 2 {
		var key, value string
		r.text(&key, maxText)(node.Content[i])
		r.text(&value, maxText)(node.Content[i+1])
		if _, twice := to[key]; twice {
			r.refuse(node.Content[i], "catalogue-duplicate", "duplicate key %q", key)
		}
		to[key] = value
	}
}

// literal refuses what can't be searched for line by line.
func (l *loader) literal(r *reader, node *yaml.Node, text string) {
	if strings.ContainsAny(text, "\n\r") {
		r.refuse(node, "catalogue-value", "literal %.60q goes over more than one line: write one for each", text)
	}
	if l.literals++; l.literals == maxLiterals+1 {
		r.refuse(node, "catalogue-size", "more than %d literals", maxLiterals)
	}
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// checkKinds refuses kinds that nothing is of: the condition could never hold.
func (l *loader) checkKinds() {
	known := map[string]bool{}
	for _, k := range l.c.kinds {
		known[k.name] = true
	}
	refuse := func(at diagnostic.Position, names []string) {
		for _, name := range names {
			if !known[name] {
				l.found = append(l.found, diagnostic.Diagnostic{Position: at, Severity: diagnostic.Error,
					Rule: "catalogue-unknown-kind", Message: fmt.Sprintf("no kind of file is called %.60q", name)})
			}
		}
	}
	for _, a := range l.c.attributes {
		refuse(a.position, a.kinds)
	}
	for _, s := range l.c.signatures {
		for _, condition := range s.conditions() {
			refuse(condition.Position, condition.Kind)
		}
	}
}
