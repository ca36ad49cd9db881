package catalogue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/catalogue"
)

func TestAttributes(t *testing.T) {
	const rules = `
kinds:
- {kind: serial, files: "serial*.log", producer: serial console}
attributes:
- {name: distribution, from: name, pattern: '^Test_(?P<value>Ubuntu|Flatcar)', values: {Ubuntu: ubuntu}}
- {name: run, from: file, pattern: 'run-(?P<value>\d+)/'}
- {name: cluster, from: line, literal: "cluster=", pattern: '\bcluster=(?P<value>[a-z0-9-]+)'}
- {name: cluster, from: name, pattern: '/cluster-(?P<value>[a-z]+)$'}
- {name: kernel, from: line, kind: serial, literal: "Linux version", pattern: 'Linux version (?P<value>\S+)'}
`
	c := parse(t, rules)
	for _, test := range []struct{ rule, name, file, text, want string }{
		{"from the name, under another name", "Test_Ubuntu/x", "a.log", "", "distribution=ubuntu"},
		{"from the name, as it stands", "Test_Flatcar/x", "a.log", "", "distribution=Flatcar"},
		{"from the path", "T", "out/run-12/a.log", "", "run=12"},
		{"from a line", "T", "a.log", "x\nusing cluster=west-1\n", "cluster=west-1"},
		{"from several lines that agree", "T", "a.log", "cluster=a\ncluster=a x\n", "cluster=a"},
		{"several values are none", "T", "a.log", "cluster=a\ncluster=b\n", "cluster ambiguous: a, b"},
		{"a literal without the pattern", "T", "a.log", "cluster=?\n", ""},
		{"the first pattern decides", "T/cluster-x", "a.log", "cluster=a\n", "cluster=a"},
		{"the next one decides where the first gives nothing", "T/cluster-x", "a.log", "", "cluster=x"},
		{"an ambiguous value is not decided by the next one", "T/cluster-x", "a.log", "cluster=a\ncluster=b",
			"cluster ambiguous: a, b"},
		{"from a kind of file", "T", "serial.log", "Linux version 6.8.0\n", "kernel=6.8.0"},
		{"from another kind of file", "T", "a.log", "Linux version 6.8.0\n", ""},
		{"control characters are left out", "T", "serial.log", "Linux version 6\x1b[0m.8\x07\n", "kernel=6.8"},
		{"long values are cut", "T", "serial.log", "Linux version " + strings.Repeat("x", 1000),
			"kernel=" + strings.Repeat("x", 256)},
		{"sorted by name", "Test_Ubuntu", "run-7/serial.log", "cluster=a Linux version 6\n",
			"cluster=a distribution=ubuntu kernel=6 run=7"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			attributes, ambiguous := c.Attributes(test.name, []catalogue.Found{find(t, c, test.file, test.text)})
			var told []string
			for _, a := range attributes {
				told = append(told, a.Name+"="+a.Value)
			}
			for _, a := range ambiguous {
				told = append(told, fmt.Sprintf("%s ambiguous: %s", a.Name, strings.Join(a.Values, ", ")))
			}
			if got := strings.Join(told, " "); got != test.want {
				t.Errorf("%s, not %s", got, test.want)
			}
		})
	}
}

// TestAPatternIsTriedOnSoManyLines of a text, and once on each, however often its literal is there.
func TestAPatternIsTriedOnSoManyLines(t *testing.T) {
	const tries = 4096
	c := parse(t, `
attributes: [{name: cluster, from: line, literal: cluster=, pattern: 'cluster=(?P<value>\w+)'}]
signatures: [{id: s, class: test, all: denied, matches: 'denied \d'}]
`)
	for text, want := range map[string]int{
		strings.Repeat("cluster=?\n", tries-1) + "cluster=a\n":     1,
		strings.Repeat("cluster=?\n", tries) + "cluster=a\n":       0,
		strings.Repeat("cluster=? ", 2*tries) + "\ncluster=a\n":    1,
		strings.Repeat("denied\n", 2*tries) + "denied cluster=b 1": 1,
	} {
		if got, _ := c.Attributes("T", []catalogue.Found{find(t, c, "a.log", text)}); len(got) != want {
			t.Errorf("%.30q: %v", text, got)
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("denied 1 denied 2\n", tries-1):   "s by test 4095×",
		strings.Repeat("denied 1\n", tries+1):            "s by test 4096×",
		strings.Repeat("denied\n", tries+1) + "denied 1": "s by test 1×",
	} {
		if got := hits(c, find(t, c, "a.log", text)); !strings.HasPrefix(got, want) {
			t.Errorf("%.30q: %s", text, got)
		}
	}
}

func TestValuesOfSeveralTextsOfAScenarioMustAgree(t *testing.T) {
	c := parse(t, "attributes: [{name: cluster, from: line, literal: cluster=, pattern: 'cluster=(?P<value>\\w+)'}]\n")
	a, b := find(t, c, "a.log", "cluster=a"), find(t, c, "b.log", "cluster=b")
	attributes, ambiguous := c.Attributes("T", []catalogue.Found{b, a, b})
	want := []catalogue.Ambiguous{{Name: "cluster", Values: []string{"a", "b"}}}
	if len(attributes) != 0 || !cmp.Equal(ambiguous, want) {
		t.Errorf("%v %v", attributes, ambiguous)
	}
	attributes, ambiguous = c.Attributes("T", []catalogue.Found{a, a})
	if len(attributes) != 1 || len(ambiguous) != 0 {
		t.Errorf("%v %v", attributes, ambiguous)
	}
}

// TestHitsAreToldByProducer: evidence of two producers is worth more than two files of one.
func TestHitsAreToldByProducer(t *testing.T) {
	c := parse(t, `
kinds:
- {kind: serial, files: "serial*.log", producer: serial console}
signatures:
- {id: denied, class: infrastructure, all: denied}
- {id: here, class: product, place: vmss.go}
`)
	texts := []catalogue.Found{
		find(t, c, "a.log", "denied 1\n"), find(t, c, "b.log", "x\ndenied 2\ndenied 3"),
		find(t, c, "serial-1.log", "denied 4"),
		find(t, c, "none.log", ""),
	}
	want := `denied by test 3× a.log:1 "denied 1"
denied by serial console (serial) 1× serial-1.log:1 "denied 4"
here by test`
	if got := tell(c.Signatures(texts, nil, "vmss.go:7", today)); got != want {
		t.Error(got)
	}
	if got := tell(c.Signatures(nil, nil, "vmss.go:7", today)); got != "here by test" {
		t.Error(got)
	}
	if got := tell(c.Signatures(texts[3:], nil, "", today)); got != "" {
		t.Error(got)
	}
}
