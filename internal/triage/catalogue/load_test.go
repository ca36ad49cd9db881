package catalogue_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/catalogue"
)

func TestCatalogueIsReadStrictly(t *testing.T) {
	signature := func(text string) string { return "signatures:\n- {id: s, class: test, " + text + "}\n" }
	for _, test := range []struct{ rule, text, want string }{
		{"unknown key", "signature: []\n", `c.yaml:1:1: unknown key "signature"; did you mean "signatures"? [catalogue-unknown-key]`},
		{"unknown key of a signature", signature(`literal: x`), `c.yaml:2:24: unknown key "literal" [catalogue-unknown-key]`},
		{"unknown key of a line", signature(`line: {all: x, place: y}`), `c.yaml:2:39: unknown key "place"`},
		{"unknown key of an alternative", signature(`anyOf: [{all: x, id: y}]`), `c.yaml:2:41: unknown key "id"`},
		{"unknown key of a kind", "kinds: [{kind: k, file: a}]\n", `c.yaml:1:19: unknown key "file"; did you mean "files"?`},
		{"unknown key of an attribute", "attributes: [{name: a, regex: b}]\n", `c.yaml:1:24: unknown key "regex"`},
		{"duplicate key", signature(`all: x, all: y`), `c.yaml:2:32: duplicate key "all" [catalogue-duplicate]`},
		{"duplicate ID", signature(`all: x`) + "- {id: s, class: test, all: y}\n", `c.yaml:3:3: duplicate id "s", first at c.yaml:2:3 [catalogue-duplicate]`},
		{"duplicate kind", "kinds: [{kind: k, files: a}, {kind: k, files: b}]\n", `c.yaml:1:30: duplicate kind "k", first at c.yaml:1:9`},
		{"a number where a text belongs", signature(`all: 503`), `c.yaml:2:29: "503" is no text: put it in quotes [catalogue-type]`},
		{"a boolean where a text belongs", signature(`all: [yes, true]`), `c.yaml:2:35: "true" is no text: put it in quotes`},
		{"a mapping where a text belongs", signature(`all: {a: b}`), `c.yaml:2:29: a mapping where a text belongs`},
		{"a text where a list belongs", "signatures: x\n", `c.yaml:1:13: "x" where a list belongs`},
		{"a list where a mapping belongs", "- x\n", `c.yaml:1:1: a list where a mapping belongs`},
		{"an empty literal", signature(`all: ["", x]`), `c.yaml:2:30: an empty text`},
		{"nothing where a text belongs", signature(`all: x, owner: `), `c.yaml:2:39: nothing where a text belongs`},
		{"no date", signature(`all: x, validUntil: tomorrow`), `c.yaml:2:44: "tomorrow" is no date such as 2026-11-30`},
		{"no count", signature(`all: x, escalation: {count: 0}`), `c.yaml:2:52: "0" is no count from 1 to 1,000,000`},
		{"an expression that is none", signature(`all: x, matches: "("`), "c.yaml:2:3: missing closing ): `(` [catalogue-expression]"},
		{"an expression of another language", signature(`all: x, matches: '(?=x)'`), "c.yaml:2:3: invalid or unsupported Perl syntax: `(?=`"},
		{"an expression without a literal", signature(`matches: x`), `c.yaml:2:3: an expression (matches) needs a literal beside it`},
		{"a line without a literal", signature(`all: x, line: {matches: x}`), `c.yaml:2:38: a condition on a line needs a literal`},
		{"nothing asked for", signature(`owner: x`), `c.yaml:2:3: signature "s", or an alternative of it, asks for no literal`},
		{"nothing asked for but an attribute", signature(`where: {a: b}`), `asks for no literal`},
		{"an alternative that asks for nothing", signature(`anyOf: [{all: x}, {none: y}]`), `asks for no literal`},
		{"a literal of two lines", signature(`all: "a\nb"`), `c.yaml:2:3: literal "a\nb" goes over more than one line`},
		{"an unknown class", "signatures: [{id: s, class: flake, all: x}]\n", `c.yaml:1:14: class "flake" is none of infrastructure, product, test`},
		{"an ID with a space", "signatures: [{id: a b, class: test, all: x}]\n", `id "a b" is not 1 to 100 letters`},
		{"an unknown kind", signature(`all: x, kind: k`), `c.yaml:2:3: no kind of file is called "k" [catalogue-unknown-kind]`},
		{"an unknown kind of an attribute", "attributes: [{name: a, from: line, literal: x, kind: k, pattern: '(?P<value>.)'}]\n", `no kind of file is called "k"`},
		{"a kind without files", "kinds: [{kind: k}]\n", `a kind needs a name (kind) and patterns of its files (files)`},
		{"an attribute from nowhere", "attributes: [{name: a, from: log, pattern: '(?P<value>.)'}]\n", `from "log" is none of name, line, file`},
		{"an attribute without a group", "attributes: [{name: a, from: name, pattern: '(.)'}]\n", `the pattern has no group (?P<value>…)`},
		{"an attribute from lines without a literal", "attributes: [{name: a, from: line, pattern: '(?P<value>.)'}]\n", `a pattern for lines needs a literal`},
		{"an attribute from names with a kind", "attributes: [{name: a, from: name, literal: x, pattern: '(?P<value>.)'}]\n", `literal and kind are for patterns from lines`},
		{"an attribute that is renamed twice", "attributes: [{name: a, from: name, pattern: '(?P<value>.)', values: {b: c, b: d}}]\n", `duplicate key "b"`},
		{"an attribute whose expression is none", "attributes: [{name: a, from: name, pattern: '('}]\n", "c.yaml:1:14: missing closing ): `(`"},
		{"an attribute that is renamed by a list", "attributes: [{name: a, from: name, pattern: '(?P<value>.)', values: [b]}]\n", `c.yaml:1:69: a list where a mapping belongs`},
		{"attributes that are no mapping", signature(`all: x, where: [a]`), `c.yaml:2:39: a list where a mapping from attributes to values belongs`},
		{"an attribute that is asked for twice", signature(`all: x, where: {a: b, a: c}`), `duplicate key "a"`},
		{"an expression in an alternative", signature(`anyOf: [{all: x, matches: "("}]`), "c.yaml:2:32: missing closing ): `(`"},
		{"an attribute without a pattern", "attributes: [{name: a, from: name}]\n", `an attribute needs a name and a pattern`},
		{"an attribute's literal of two lines", "attributes: [{name: a, from: line, literal: \"a\\nb\", pattern: '(?P<value>.)'}]\n", `goes over more than one line`},
		{"a kind without a name", "kinds: [{files: a}, {files: b}]\n", `c.yaml:1:9: a kind needs a name`},
		{"more nodes than there may be", "kinds: [" + strings.Repeat("a,", 1<<17) + "]\n", `more than 131072 nodes`},
		{"anchors", "kinds: &a []\n", `c.yaml:1:8: anchors and aliases are not allowed`},
		{"a second document", "kinds: []\n---\nkinds: []\n", `c.yaml:2:1: a second document begins here`},
		{"no YAML", "kinds: [\n", `c.yaml:1:1: invalid YAML: did not find expected node content`},
		{"no UTF-8", "kinds: [\xff]\n", `c.yaml:1:1: the file is not UTF-8`},
		{"too deep", strings.Repeat("[", 20) + strings.Repeat("]", 20), `nested more than 16 levels deep`},
		{"too long a text", signature("all: " + strings.Repeat("x", 5000)), `a text of more than 4096 bytes`},
		{"too long a list", signature("all: [" + strings.Repeat("x, ", 1001) + "]"), `more than 1000 items`},
		{"too large a file", strings.Repeat("# x\n", 3<<20), `c.yaml:1:1: the file has more than 8388608 bytes`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			c, err := catalogue.Parse("c.yaml", []byte(test.text))
			var invalid *catalogue.Invalid
			if !errors.As(err, &invalid) || c != nil {
				t.Fatalf("%v, %v", c, err)
			}
			for _, d := range invalid.Found {
				if strings.Contains(d.String(), test.want) {
					return
				}
			}
			t.Errorf("got %v, want %s", invalid.Found, test.want)
		})
	}
}

func TestAFolderIsReadInOrderAndWhatIsNoYAMLIsNot(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml":       "signatures: [{id: b, class: test, all: x, kind: console}]\n",
		"a/z.yml":      "signatures: [{id: az, class: test, all: x}]\n",
		"kinds.yaml":   "kinds: [{kind: console, files: c}]\n",
		"empty.yaml":   "",
		"README.md":    "no: [",
		".git/no.yaml": "no: [",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalogue.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range c.All() {
		ids = append(ids, s.Position.File+" "+s.ID)
	}
	if got := strings.ReplaceAll(strings.Join(ids, "; "), folder, "."); got != "./a/z.yml az; ./b.yaml b" {
		t.Error(got)
	}
	if c.Signature("b") == nil || c.Signature("none") != nil {
		t.Error("a signature is not known by its ID")
	}
	again := []byte("signatures: [{id: b, class: test, all: x}]\n")
	if err := os.WriteFile(filepath.Join(folder, "c.yaml"), again, 0o644); err != nil {
		t.Fatal(err)
	}
	want := `invalid catalogue: ./c.yaml:1:14: duplicate id "b", first at ./b.yaml:1:14 [catalogue-duplicate]`
	if _, err := catalogue.Load(folder); err == nil || strings.ReplaceAll(err.Error(), folder, ".") != want {
		t.Error(err)
	}
	if _, err := catalogue.Load(filepath.Join(folder, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestEachMistakeIsToldOnceInTheOrderOfTheFile, and none that follows from another one.
func TestEachMistakeIsToldOnceInTheOrderOfTheFile(t *testing.T) {
	for text, want := range map[string][]string{
		strings.Repeat("[", 20) + strings.Repeat("]", 20): {"1:17: nested more than 16 levels deep"},
		"kinds: [" + strings.Repeat("a,", 1<<17) + "]\n":  {"1:262147: more than 131072 nodes"},
		"kinds: [{files: a}, {files: b, x: y}]\n": {
			"1:9: a kind needs", "1:21: a kind needs", "1:32: unknown key",
		},
		"signatures: [{id: s, class: test, all: 1, owner: []}]": {`1:40: "1" is no text`, "1:50: a list where"},
		"signatures: [{id: s, class: test, all: x, kind: k}]\nkinds: [{kind: l, files: f, a: b}]": {
			`2:29: unknown key "a"`,
		},
		"signatures: [{id: s, class: test, kind: k, all: x}, {id: s, class: test, all: x}]": {
			"1:53: duplicate id",
		},
	} {
		_, err := catalogue.Parse("c.yaml", []byte(text))
		var invalid *catalogue.Invalid
		if !errors.As(err, &invalid) {
			t.Fatal(err)
		}
		var got []string
		for i, d := range invalid.Found {
			line := strings.TrimPrefix(d.String(), "c.yaml:")
			if i < len(want) {
				line = line[:min(len(line), len(want[i]))]
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.60q (-want +got)\n%s", text, diff)
		}
		if more := fmt.Sprintf("(and %d more)", len(want)-1); strings.HasSuffix(err.Error(), more) != (len(want) > 1) {
			t.Error(err)
		}
	}
}

func TestBoundsHoldOverAllFiles(t *testing.T) {
	write := func(folder, name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, items := range map[string]struct{ key, item, refusal string }{
		"kinds": {"kinds", "{kind: k%s%d, files: a}, ", "more than 1000 kinds of file"},
		"attributes": {"attributes", "{name: a%s%d, from: name, pattern: '(?P<value>.)'}, ",
			"more than 1000 attribute patterns"},
	} {
		folder := t.TempDir()
		for _, file := range []string{"a", "b"} {
			var text strings.Builder
			for i := range 501 {
				fmt.Fprintf(&text, items.item, file, i)
			}
			write(folder, file+".yaml", items.key+": ["+text.String()+"]\n")
		}
		if _, err := catalogue.Load(folder); err == nil || !strings.Contains(err.Error(), items.refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	folder := t.TempDir()
	for i := range 2_001 {
		write(folder, fmt.Sprint(i, ".yaml"), "")
	}
	if _, err := catalogue.Load(folder); err == nil || !strings.Contains(err.Error(), "more than 2000 files") {
		t.Error(err)
	}
	if got := (&catalogue.Invalid{}).Error(); got != "invalid catalogue" {
		t.Error(got)
	}
}

func TestAnEmptyCatalogueFindsNothing(t *testing.T) {
	c := catalogue.Empty()
	found := find(t, c, "a.log", "x\n")
	attributes, ambiguous := c.Attributes("TestA", []catalogue.Found{found})
	if hits(c, found) != "" || len(attributes)+len(ambiguous) > 0 || found.Producer != catalogue.DefaultProducer {
		t.Errorf("%+v", found)
	}
}

// FuzzParse: whatever the text, it is a catalogue or refused.
func FuzzParse(f *testing.F) {
	f.Add("kinds: [{kind: k, files: ['**/a?*.log']}]\n" +
		"attributes: [{name: a, from: line, literal: x, kind: k, pattern: 'x(?P<value>.)'}]\n")
	f.Add("signatures:\n- {id: s, class: test, line: {all: [x, y], none: z, matches: 'x+'}, where: {a: b*},\n" +
		"  anyOf: [{place: p}]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := catalogue.Parse("c.yaml", []byte(text))
		if (c == nil) == (err == nil) {
			t.Fatal(c, err)
		}
		if c != nil {
			hits(c, find(t, c, "a.log", "x y x\nabc\n"))
		}
	})
}
