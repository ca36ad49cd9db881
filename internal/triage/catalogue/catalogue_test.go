package catalogue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/catalogue"
	"salve/internal/triage/results"
)

var today = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func parse(t testing.TB, text string) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.Parse("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// find is what a catalogue finds in a text that comes in one piece.
func find(t testing.TB, c *catalogue.Catalogue, file, text string) catalogue.Found {
	t.Helper()
	o := c.Observer().Observe(file)
	o.Text(1, []byte(text))
	o.End()
	return c.Found(results.Case{Observation: o})
}

// tell renders hits, one a line.
func tell(hits []catalogue.Hit) string {
	var out strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&out, "%s by %s", h.Signature.ID, h.Producer)
		if h.Kind != "" {
			fmt.Fprintf(&out, " (%s)", h.Kind)
		}
		if h.Lines > 0 {
			fmt.Fprintf(&out, " %d× %s %q", h.Lines, h.First, h.Text)
		}
		if h.Expired {
			out.WriteString(" expired")
		}
		if len(h.Unknown) > 0 {
			fmt.Fprintf(&out, " unknown %s", strings.Join(h.Unknown, ", "))
		}
		out.WriteString("\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func TestKindsOfFiles(t *testing.T) {
	for _, test := range []struct{ pattern, yes, no string }{
		{"console.log", "console.log a/console.log /console.log console.log.gz", "xconsole.log console.log.1 console.log/x"},
		{"**/console.log", "console.log a/b/console.log", "xconsole.log"},
		{"logs/*.txt", "logs/a.txt run-1/logs/a.txt run-1\\logs\\a.txt.zst", "logs/a/b.txt xlogs/a.txt a.txt"},
		{"logs/**/*.txt", "logs/a.txt logs/a/b.txt", "a.txt"},
		{"logs/**", "logs/a logs/a/b.txt", "xlogs/a"},
		{"node-?.log", "node-1.log", "node-10.log node-/.log"},
		{"a+b.log", "a+b.log", "aab.log"},
	} {
		c := parse(t, fmt.Sprintf("kinds: [{kind: k, files: %q, producer: p}]\n", test.pattern))
		for _, file := range strings.Fields(test.yes) {
			if found := c.FoundIn(file); found.Producer != "p" || len(found.Kinds) != 1 {
				t.Errorf("%s is not %s", file, test.pattern)
			}
		}
		for _, file := range strings.Fields(test.no) {
			if found := c.FoundIn(file); found.Producer != catalogue.DefaultProducer || len(found.Kinds) != 0 {
				t.Errorf("%s is %s", file, test.pattern)
			}
		}
	}
}

func TestCondition(t *testing.T) {
	const kinds = `
kinds:
- {kind: console, files: "**/serial-console*.log", producer: serial}
- {kind: test-log, files: "*.log"}
signatures:
`
	for _, test := range []struct{ rule, signature, file, text, want string }{
		{"one literal", `all: dial timeout`, "a.log", "x\ndial timeout\ny dial timeout\n", `s by test (test-log) 2× a.log:2 "dial timeout"`},
		{"no literal", `all: dial timeout`, "a.log", "x\n", ""},
		{"all of them, on any lines", `all: [denied, kubelet]`, "a.log", "kubelet\nkubelet\nx denied\n", `s by test (test-log) 1× a.log:3 "x denied"`},
		{"all of them, one is missing", `all: [denied, kubelet]`, "a.log", "kubelet\n", ""},
		{"one of them", `any: [denied, refused]`, "a.log", "x\nrefused", `s by test (test-log) 1× a.log:2 "refused"`},
		{"all of them and one of others: a line of the former", `all: [kubelet], any: [denied]`, "a.log", "kubelet 1\nkubelet 2\ndenied\n", `s by test (test-log) 2× a.log:1 "kubelet 1"`},
		{"none of them", `all: denied, none: retried`, "a.log", "denied\n", `s by test (test-log) 1× a.log:1 "denied"`},
		{"none of them, and one is there", `all: denied, none: retried`, "a.log", "denied\nretried\n", ""},
		{"an expression on a line with a literal", `all: [code=], matches: 'code=(500|503)\b'`, "a.log", "code=200\ncode=503\n", `s by test (test-log) 1× a.log:2 "code=503"`},
		{"an expression that no line matches", `all: [code=], matches: 'code=(500|503)\b'`, "a.log", "code=200\n503\n", ""},
		{"one line has all of it", `line: {all: [csr, denied], none: dry-run, matches: 'node-\d+'}`, "a.log", "csr x\ndenied y\ncsr denied dry-run node-1\ncsr denied node-\ncsr denied node-7\n", `s by test (test-log) 1× a.log:5 "csr denied node-7"`},
		{"one of them on the line", `line: {any: [csr, certificate], all: denied}`, "a.log", "csr\ndenied\ncertificate denied", `s by test (test-log) 1× a.log:3 "certificate denied"`},
		{"lines are counted once", `line: {any: [csr, certificate]}`, "a.log", "csr certificate csr", `s by test (test-log) 1× a.log:1 "csr certificate csr"`},
		{"the kind of file", `all: denied, kind: console`, "run/serial-console-2.log", "denied", `s by serial (console) 1× run/serial-console-2.log:1 "denied"`},
		{"the kind of file, compressed", `all: denied, kind: console`, "serial-console.log.gz", "denied", `s by serial (console) 1× serial-console.log.gz:1 "denied"`},
		{"another kind of file", `all: denied, kind: console`, "a.log", "denied", ""},
		{"the first kind names the producer, and all of them hold", `all: denied, kind: test-log`, "serial-console.log", "denied", `s by serial (console) 1× serial-console.log:1 "denied"`},
		{"a place", `place: vmss.go`, "a.log", "x", `s by test`},
		{"a place with its line", `place: "e2e/vmss.go:211", all: x`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x"`},
		{"another line", `place: "e2e/vmss.go:21"`, "a.log", "x", ""},
		{"an attribute's value", `all: x, where: {cluster: [b, a]}`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x"`},
		{"an attribute's other value", `all: x, where: {cluster: b}`, "a.log", "x", ""},
		{"any text for an asterisk", `all: x, where: {job: "gate-*-python2*"}`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x"`},
		{"an attribute that isn't known", `all: x, where: {region: west}`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x" unknown region`},
		{"attributes that aren't known", `all: x, where: {zone: a, region: b}, anyOf: [{unless: {area: c}}]`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x" unknown area, region, zone`},
		{"unless a value", `all: x, unless: {cluster: a}`, "a.log", "x", ""},
		{"unless another value", `all: x, unless: {cluster: b}`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x"`},
		{"unless a value that isn't known", `all: x, unless: {region: west}`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x" unknown region`},
		{"an alternative", `all: x, anyOf: [{all: a1}, {all: [b1, b2]}]`, "a.log", "x x\nx\nb1\nb2\n", `s by test (test-log) 1× a.log:3 "b1"`},
		{"no alternative", `all: x, anyOf: [{all: a1}, {all: [b1, b2]}]`, "a.log", "x\nb1\n", ""},
		{"alternatives alone", `anyOf: [{all: a1, kind: console}, {all: b1, kind: test-log}]`, "a.log", "b1\na1\n", `s by test (test-log) 1× a.log:1 "b1"`},
		{"the alternative of which most is known", `all: x, anyOf: [{where: {region: west}}, {where: {cluster: a}}]`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x"`},
		{"the last day", `all: x, validUntil: 2026-11-24`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x"`},
		{"after the last day", `all: x, validUntil: 2026-11-23`, "a.log", "x", `s by test (test-log) 1× a.log:1 "x" expired`},
		{"what steers a terminal is left out", `all: x`, "a.log", "a\x1b[31mx\x07\u202eb\tc\xff", `s by test (test-log) 1× a.log:1 "axb c�"`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			c := parse(t, kinds+"- {id: s, class: product, "+test.signature+"}\n")
			found := find(t, c, test.file, test.text)
			attributes := []results.Attribute{{Name: "cluster", Value: "a"}, {Name: "job", Value: "gate-nova-python27"}}
			hits := c.Signatures([]catalogue.Found{found}, attributes, "test/e2e/vmss.go:211", today)
			if diff := cmp.Diff(test.want, tell(hits)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
