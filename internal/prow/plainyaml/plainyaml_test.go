package plainyaml_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"salve/internal/prow/plainyaml"
)

// library is the root of the only document that the library reads, nil where it refuses the text or there are more.
func library(content []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil {
		return nil, err
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one document: %w", err)
	}
	return stripped(first.Content[0]), nil
}

// stripped is a node without what plainyaml doesn't give. A merge key stays one.
func stripped(node *yaml.Node) *yaml.Node {
	same := &yaml.Node{Kind: node.Kind, Style: node.Style, Value: node.Value, Line: node.Line, Column: node.Column,
		Anchor: node.Anchor}
	if node.Tag == "!!merge" {
		same.Tag = node.Tag
	}
	for _, child := range node.Content {
		same.Content = append(same.Content, stripped(child))
	}
	return same
}

func agree(t *testing.T, content []byte) (taken bool) {
	t.Helper()
	got := new(plainyaml.Reader).Root(content)
	if got == nil {
		return false
	}
	want, err := library(content)
	if err != nil {
		t.Fatalf("taken, but the library says: %v\n%s", err, content)
	}
	same(t, content, want, got)
	return true
}

func same(t *testing.T, content []byte, want, got *yaml.Node) {
	t.Helper()
	says := func(n *yaml.Node) string {
		return fmt.Sprintf("kind %d, style %d, tag %q, anchor %q, value %q, %d:%d, %d children", n.Kind, n.Style, n.Tag,
			n.Anchor, n.Value, n.Line, n.Column, len(n.Content))
	}
	if says(want) != says(got) {
		t.Fatalf("the library: %s\nplainyaml:   %s\n%s", says(want), says(got), content)
	}
	for i := range want.Content {
		same(t, content, want.Content[i], got.Content[i])
	}
}

func TestTakesWhatConfigurationIsWrittenIn(t *testing.T) {
	for name, text := range map[string]string{
		"mappings and lists":                      "a:\n  b: c\n  d:\n  - e\n  - f: g\n    h: i\nj: k\n",
		"a list in the column of its key":         "a:\n- b\n- c\nd: e\n",
		"a list at the root":                      "- a: b\n  c: d\n-   e\n",
		"lists of lists":                          "- - a\n  - b\n- - - c\n",
		"a list of mappings, further in":          "a:\n    -   b: c\n        d: e\n    -   f: g\n",
		"nothing behind a key or a dash":          "a:\nb:\n  c:\n-1: x\nd:\n-\n- e\n-\n",
		"a blank line at the beginning":           "\n\na: b\n",
		"comments and blank lines":                "# a\n\na: b # of b\n  # in\nc: # of c\n# between\n  d: e\n\n# last\n",
		"a number sign that is no comment":        "a: b#c\nd: '#e'\n",
		"colons inside of words":                  "image: registry:5000/builder:v1\nurl: https://example.com/a:b\n",
		"spaces before a colon, and at the end":   "a  :   b   \nc:  \n  d: e  \n",
		"quotes":                                  "a: 'it''s'\n\"b c\": \"d \\\"e\\\" \\\\ f\"\n'g': \"\"\n",
		"flow collections on a line":              "a: [b, 'c', \"d\", [], {}]\ne: {f: g, h: [i], \"j\": 'k', l: {m: n}}\n",
		"expressions in brackets":                 "branches: [^main$, ^release-1\\.2$]\n",
		"colons and signs in flow collections":    "a: [b:c, --d, -1, e#f]\ng: {h: i:j}\n",
		"a literal block":                         "a: |\n  b\n    c\n\n  d\ne: |-\n  f\n",
		"a literal block in a list":               "- |\n  a\n  b\n- c: |-\n    d\n\n  e: f\n",
		"a literal block, a comment, and the end": "a:\n- |\n  b\n# c\n",
		"a first line of dashes":                  "---\na: b\n",
		"words that mean something":               "a: yes\nb: ~\nc: 1_000\nd: 2001-01-01\ny: null\n",
		"the same key twice":                      "a: b\na: c\n",
	} {
		t.Run(name, func(t *testing.T) {
			if !agree(t, []byte(text)) {
				t.Errorf("left to the library:\n%s", text)
			}
		})
	}
}

func TestLeavesTheRestToTheLibrary(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                          "",
		"comments alone":                   "# a\n",
		"a scalar":                         "a\n",
		"no line feed at the end":          "a: b",
		"tabs":                             "a:\tb\n",
		"carriage returns":                 "a: b\r\n",
		"more than ASCII":                  "a: \u00fc\n",
		"control characters":               "a: \x01\n",
		"anchors and aliases":              "a: &b c\nd: *b\n",
		"tags":                             "a: !!str 1\n",
		"merge keys":                       "<<: {a: b}\n",
		"merge keys in braces":             "a: {<<: {b: c}}\n",
		"more documents than one":          "a: b\n---\nc: d\n",
		"the end of a document":            "a: b\n...\n",
		"directives":                       "%YAML 1.1\n---\na: b\n",
		"explicit keys":                    "? a\n: b\n",
		"folded blocks":                    "a: >\n  b\n",
		"literal blocks with more to say":  "a: |2\n   b\n",
		"spaces that may count":            "a: |\n  b\n    \n  c\n",
		"a scalar over two lines":          "a: b\n  c\n",
		"a scalar on a line of its own":    "a:\n  b\n",
		"quotes over two lines":            "a: 'b\n  c'\n",
		"escapes but of quotes":            "a: \"\\u00fc\"\n",
		"a flow collection over two lines": "a: [b,\n  c]\n",
		"question marks in brackets":       "branches: [release-.*?x, master]\n",
		"question marks in braces":         "a: {b: ^v1.?0$}\n",
		"pairs in brackets":                "a: [b: c]\n",
		"words without a value in braces":  "a: {b}\n",
		"a flow collection as a key":       "[a]: b\n",
		"a mapping inside of a value":      "a: b: c\n",
		"further in than its key":          "a: b\n  c: d\n",
		"between two columns":              "a:\n    b: c\n  d: e\n",
		"nothing but a word in a mapping":  "a: b\nc\n",
		"deeper than anybody writes":       string(bytes.Repeat([]byte("- "), 200)) + "a\n",
	} {
		t.Run(name, func(t *testing.T) {
			if agree(t, []byte(text)) {
				t.Errorf("taken:\n%s", text)
			}
		})
	}
}

func FuzzAgreesWithTheLibrary(f *testing.F) {
	for _, text := range []string{
		"a:\n  b: c\n  d:\n  - e\n  - f: g\n    h: 'i'\n", "a: [b, {c: d}, \"e\"] # f\n- g\n",
		"a: |\n  b\n\n    c\nd: |-\n  e\n", "- - a:\n    - b\n  -\n-\n", "---\na : b:c\n# d\ne:\n- f #g\n", "? a\n",
		"a: {b: c\n", "a: b\n  c\n", "<<: a\n",
		"a:\n-1: b\n", "a: -\n", "a: ?b\n", "- a: |\n   b\n  # c\n  d: e\n",
	} {
		f.Add([]byte(text))
	}
	files, err := filepath.Glob("../*/testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) { agree(t, content) })
}

// text is put together of pieces: nearly YAML, and often YAML.
func text(choices []byte) []byte {
	pieces := []string{"a", "b c", "- ", "- ", ": ", ":", ": ", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", "\n   ", " ",
		"[", "]", "{", "}", ", ",
		",", "'", "\"", "#", " # d", "|\n", "|-\n", "\\", "?", "-", "&", "*", "!", "<<", "---", "...",
		"%", ">", "@", "``", "a: b", "e: ", "f:\n", "- g", "- h: i", "[j, k]", "{l: m}", "p?q", "'n'", "\"o\"", "~", "1", "\n\n", "=", "true"}
	var made []byte
	for _, choice := range choices {
		made = append(made, pieces[int(choice)%len(pieces)]...)
	}
	return append(made, '\n')
}

func FuzzPiecesAgreeWithTheLibrary(f *testing.F) {
	f.Add([]byte{40, 7, 41, 10, 44, 12, 42, 43})
	f.Fuzz(func(t *testing.T, choices []byte) { agree(t, text(choices)) })
}

func TestAReaderReadsOneDocumentAfterTheOther(t *testing.T) {
	var reader plainyaml.Reader
	for _, text := range []string{"a: [b, c]\nd: |\n  e\n", "- f\n", "a: &b c\n", "- - g: 'h'\n  - {i: j}\n- k\n"} {
		got := reader.Root([]byte(text))
		want, err := library([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got != nil {
			same(t, []byte(text), want, got)
		}
	}
}

func TestPiecesAgreeWithTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for range 100_000 {
		choices := make([]byte, 1+random.IntN(12))
		for i := range choices {
			choices[i] = byte(random.IntN(256))
		}
		if agree(t, text(choices)) {
			taken++
		}
	}
	if taken < 1000 {
		t.Errorf("%d of 100,000 texts were taken: the pieces try too little", taken)
	}
}
