package results_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"salve/internal/triage/results"
)

func TestJUnitDialects(t *testing.T) {
	for _, test := range []struct {
		name, xml string
		want      []string
	}{
		{"a case without a result passes", `<testsuite name="s"><testcase name="a" classname="c" time="1.5"/></testsuite>`,
			[]string{`pass "a" #1 suite="s" class="c" took=1.5s`}},
		{"names of nested suites are joined, that of testsuites is not one of them",
			`<testsuites name="run 7"><testsuite name="x"><testsuite name="y"><testcase name="a"/></testsuite></testsuite></testsuites>`,
			[]string{`pass "a" #1 suite="x/y"`}},
		{"a failure has type, message and text",
			`<testsuite><testcase name="a"><failure type="T" message="m">at f.go:1</failure></testcase></testsuite>`,
			[]string{`fail "a" #1 type="T" message="m" failure="at f.go:1"`}},
		{"a failure without a message is told by its first line",
			"<testsuite><testcase name='a'><error>\n first \nsecond</error></testcase></testsuite>",
			[]string{`error "a" #1 message="first" failure="\n first \nsecond"`}},
		{"the worst of several results counts",
			`<testsuite><testcase name="a"><skipped message="no"/><failure message="f">F</failure><error message="e">E</error><failure message="g">G</failure></testcase></testsuite>`,
			[]string{`error "a" #1 message="e" failure="FEG" notes="4 results in one case: the worst counts"`}},
		{"cases of one name are attempts",
			`<testsuite><testcase name="a"><failure message="m"/></testcase><testcase name="a"/><testcase name="a" classname="other"/></testsuite>`,
			[]string{`fail "a" #1 message="m"`, `pass "a" #2`, `pass "a" #1 class="other"`}},
		{"surefire: what was flaky failed before it passed",
			`<testsuite><testcase name="a"><flakyFailure message="one"><stackTrace>S</stackTrace><system-out>O</system-out></flakyFailure><flakyError message="two"/><system-out>last</system-out></testcase></testsuite>`,
			[]string{`fail "a" #1 message="one" failure="S" output="O"`, `error "a" #2 message="two"`, `pass "a" #3 output="last"`}},
		{"surefire: a rerun follows the failure",
			`<testsuite><testcase name="a"><failure message="one"/><rerunFailure message="two" time="2">T</rerunFailure></testcase></testsuite>`,
			[]string{`fail "a" #2 took=2s message="two" failure="T"`, `fail "a" #1 message="one"`}},
		{"properties of suite and case, and attributes that JUnit doesn't know, are attributes",
			`<testsuite name="s" hostname="h"><properties><property name="region" value="eu"/><property name="arch">arm64</property></properties>` +
				`<testcase name="a" cluster="A"><properties><property name="region" value="us"/></properties></testcase><testcase name="b"/></testsuite>`,
			[]string{`pass "a" #1 suite="s" arch:"arm64" cluster:"A" hostname:"h" region:"us"`, `pass "b" #1 suite="s" arch:"arm64" hostname:"h" region:"eu"`}},
		{"properties of a suite end with it",
			`<testsuites><testsuite name="s"><properties><property name="region" value="eu"/></properties></testsuite><testsuite name="u"><testcase name="a"/></testsuite></testsuites>`,
			[]string{`pass "a" #1 suite="u"`}},
		{"a status says skipped or failed where no element does",
			`<testsuite><testcase name="a" status="disabled"/><testcase name="b" status="failed"/><testcase name="c" status="run"/><testcase name="d" status="odd"/></testsuite>`,
			[]string{`skip "a" #1`, `fail "b" #1`, `pass "c" #1`, `pass "d" #1 notes="status \"odd\" is not known: the elements inside tell the outcome"`}},
		{"output and error output are one text, CDATA and references included",
			`<testsuite><testcase name="a"><system-out>x &lt;&#65;&#x42; <![CDATA[<raw> ]] &amp;]]></system-out><system-err>!</system-err></testcase></testsuite>`,
			[]string{`pass "a" #1 output="x <AB <raw> ]] &amp;!"`}},
		{"a source place", `<testsuite><testcase name="a" file="t/a.py" line="7"/></testsuite>`, []string{`pass "a" #1 at=t/a.py:7`}},
		{"< in an attribute and a bare & are forgiven", `<testsuite><testcase name="a < b & c" time="<<computed>>"/></testsuite>`,
			[]string{`pass "a < b & c" #1`}},
		{"a reference that XML doesn't define stays as it stands", `<testsuite><testcase name="&nbsp;&lol9;"/></testsuite>`,
			[]string{`pass "&nbsp;&lol9;" #1`}},
		{"control characters are replaced and noted",
			"<testsuite><testcase name='a'><failure message='\x1b[31mred&#27;[0m'>\xff</failure></testcase></testsuite>",
			[]string{`fail "a" #1 message="�[31mred�[0m" failure="�" notes="2 control characters or bytes that are no UTF-8 replaced by U+FFFD; 1 control character or byte that is no UTF-8 replaced by U+FFFD"`}},
		{"a document type that declares nothing", "<!DOCTYPE testsuites PUBLIC '-//[x]>' \"a.dtd\" >" + `<testsuites><testsuite><testcase name="a"/></testsuite></testsuites>`,
			[]string{`pass "a" #1`}},
		{"a document type that the file ends in", "<!DOCTYPE testsuites SYSTEM 'a>", []string{`problem: standard input:1: the file ends inside a document type`}},
		{"a document type inside an element", "<testsuite><!DOCTYPE testsuites>", []string{`problem: standard input:1: a document type or entity declaration is refused`}},
		{"a document type with declarations is refused", "<?xml version='1.0'?>\n<!DOCTYPE lolz [<!ENTITY lol 'lol'>]><testsuite/>", []string{`problem: standard input:2: a document type with declarations of its own is refused`}},
		{"cases before a break are kept",
			"<testsuite><testcase name='a'/>\n<testcase name='b'>\n<testcase name='c'/></testsuite>",
			[]string{`pass "a" #1`, `problem: standard input:3: <testcase> inside the <testcase> of line 2`}},
		{"a failure that the break cuts through is kept, with what there is of its text",
			"<testsuite><testcase name='a'><failure message='m'><![CDATA[first\nsec",
			[]string{`fail "a" #1 message="m" failure="first\nsec" notes="cut off: the file breaks inside this case"`, `problem: standard input:2: the file ends inside a CDATA section`}},
		{"a case without a result is not counted as passed where the file breaks",
			"<testsuite><testcase name='a'><system-out>x",
			[]string{`problem: standard input:1: the file ends inside <system-out> of line 1`}},
		{"tags that don't match", "<testsuite>\n</testsuites>", []string{`problem: standard input:2: </testsuites> where <testsuite> of line 1 is open`}},
		{"another format", "<?xml version='1.0'?>\n<assemblies/>", []string{`problem: standard input:2: the root element <assemblies> is not JUnit's`}},
		{"an encoding that isn't known", "<?xml version='1.0' encoding='Shift_JIS'?><testsuite><testcase name='a\x83'/></testsuite>", []string{`pass "a�" #1 notes="1 control character or byte that is no UTF-8 replaced by U+FFFD"`}},
		{"a NUL in a failure", "<testsuite>\n<testcase name='a'><failure message='b\x00'>c\x00d</failure></testcase>\x00<testcase name='e'/></testsuite>\x00", []string{`fail "a" #1 message="b�" failure="c�d" notes="1 control character or byte that is no UTF-8 replaced by U+FFFD; 1 control character or byte that is no UTF-8 replaced by U+FFFD"`, `pass "e" #1`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, read(t, results.Reader{}, test.xml), test.want...)
		})
	}
}

func TestDeclaredEncodingsAreDecoded(t *testing.T) {
	const doc = `<testsuite><testcase name="Müller"/></testsuite>`
	latin, _ := charmap.ISO8859_1.NewEncoder().String(`<?xml version="1.0" encoding="ISO-8859-1"?>` + doc)
	windows, _ := charmap.Windows1252.NewEncoder().String(`<?xml version="1.0" encoding="windows-1252"?>` + doc)
	little, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(`<?xml version="1.0" encoding="utf-16"?>` + doc)
	big, _ := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder().String(`<?xml version="1.0" encoding="utf-16"?>` + doc)
	for name, text := range map[string]string{
		"ISO-8859-1": latin, "windows-1252": windows, "UTF-16 with a mark": little, "UTF-16 without a mark": big,
		"UTF-8 with a mark": "\ufeff" + doc, "UTF-8 that claims to be UTF-16": `<?xml version="1.0" encoding="utf-16"?>` + doc,
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, read(t, results.Reader{}, text), `pass "Müller" #1`)
		})
	}
}

func TestOutputOfASuiteIsNotedAsUnread(t *testing.T) {
	var notes []results.Note
	reader := results.Reader{Note: func(n results.Note) { notes = append(notes, n) }}
	read(t, reader, "<testsuite name='s'><testcase name='a'/>\n<system-out>x</system-out></testsuite>")
	want := results.Note{Place: results.Place{File: "standard input", Line: 2}, Text: `output of suite "s" belongs to no case and is not kept`}
	if !slices.Equal(notes, []results.Note{want}) {
		t.Errorf("notes are %v", notes)
	}
}

// FuzzJUnit compares with encoding/xml: what that reads whole holds the same cases.
func FuzzJUnit(f *testing.F) {
	for _, seed := range []string{
		`<testsuites><testsuite name="s"><properties><property name="a">b</property></properties><testcase name="a"><flakyFailure><x/><system-out>o</system-out></flakyFailure><failure message="m">t</failure></testcase></testsuite></testsuites>`,
		`<testsuite><testcase name="&#65;"><![CDATA[x]]></testcase></testsuite><testsuite/>`, `<testsuite><!-- c --><a:b c:d='e'/></testsuite>`,
		`<!DOCTYPE a><testsuite/>`, `<testsuite/><property name="a"/>`, `<testsuite`, "<\x00t\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var names []string
		refused := false
		for c, err := range (results.Reader{Stdin: strings.NewReader(text)}).Cases(t.Context(), "-") {
			if refused = refused || err != nil; err == nil {
				checkCase(t, c)
				names = append(names, c.Name)
			}
		}
		want, plain := namesByEncodingXML(text)
		if plain && (refused || !slices.Equal(names, want)) {
			t.Errorf("cases %q (refused: %v), encoding/xml reads %q", names, refused, want)
		}
	})
}

// namesByEncodingXML are those of all cases, where the document is so plain that both must agree.
func namesByEncodingXML(text string) (names []string, plain bool) {
	if !strings.HasPrefix(text, "<testsuite>") || strings.ContainsAny(text, ":\x00") || strings.Contains(text, "<!D") {
		return nil, false
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	depth := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return names, true
		}
		if err != nil {
			return nil, false
		}
		switch token := token.(type) {
		case xml.Directive:
			return nil, false
		case xml.EndElement:
			depth--
		case xml.StartElement:
			// Only suites, plain cases and what is no word of JUnit: the rest is for the table above.
			if depth++; depth > 50 || depth == 1 && token.Name.Local != "testsuite" || len(token.Attr) > 1 {
				return nil, false
			}
			if token.Name.Local == "testcase" && len(token.Attr) == 1 && token.Attr[0].Name.Local == "name" {
				names = append(names, token.Attr[0].Value)
			} else if token.Name.Local != "testsuite" && token.Name.Local != "failure" {
				return nil, false
			}
			if strings.ContainsFunc(strings.Join(names, ""), func(r rune) bool { return steering(r) || r == '\r' }) {
				return nil, false
			}
			if len(names) > 0 && (token.Name.Local == "testsuite" || depth > 3) {
				return nil, false // perhaps inside a case, which is refused
			}
			if depth > 2 && token.Name.Local == "testcase" {
				return nil, false
			}
		}
	}
}
