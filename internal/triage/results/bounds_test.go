package results_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/triage/results"
)

// TestBoundsOfXML: one more than is allowed is refused with its line, and what is allowed is read.
func TestBoundsOfXML(t *testing.T) {
	attributes := func(count int) string {
		var out strings.Builder
		for i := range count {
			fmt.Fprintf(&out, " a%d=''", i)
		}
		return out.String()
	}
	nested := func(depth int) string { // with <testsuite> and <testcase>
		return strings.Repeat("<x>", depth-2) + strings.Repeat("</x>", depth-2)
	}
	for _, test := range []struct{ name, inside, refusal string }{
		{"100 elements deep", nested(100), ""},
		{"101 elements deep", nested(101), "elements nested deeper than 100"},
		{"256 attributes", "<x" + attributes(256) + "/>", ""},
		{"257 attributes", "<x" + attributes(257) + "/>", "<x> has more than 256 attributes"},
		{"a name of 256 bytes", "<" + strings.Repeat("n", 256) + "/>", ""},
		{"a name of 257 bytes", "<" + strings.Repeat("n", 257) + "/>", "a name longer than 256 bytes"},
		{"an attribute's name of 257 bytes", "<x " + strings.Repeat("n", 257) + "=''/>", "a name longer than 256 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			const first = "<testsuite><testcase name='first'/>\n<testcase name='second'>"
			got := read(t, results.Reader{}, first+test.inside+"</testcase></testsuite>")
			want := []string{`pass "first" #1`, `pass "second" #1`}
			if test.refusal != "" {
				want[1] = "problem: standard input:2: " + test.refusal
			}
			expect(t, got, want...)
		})
	}
}

// TestAttributesBeyondTheLimitAreLeftOutAndCounted, the known ones keep their values.
func TestAttributesBeyondTheLimitAreLeftOutAndCounted(t *testing.T) {
	reader := results.Reader{Limits: results.Limits{Attributes: 2}}
	for name, in := range map[string]string{
		"JUnit": `<testsuite><testcase name='A' b='1' c='2' d='3' e='4'><properties><property name='b' value='5'/></properties></testcase></testsuite>`,
		"go test": events(
			`{"Action":"attr","Package":"p","Test":"A","Key":"b","Value":"1"}`, `{"Action":"attr","Package":"p","Test":"A","Key":"c","Value":"2"}`,
			`{"Action":"attr","Package":"p","Test":"A","Key":"d","Value":"3"}`, `{"Action":"attr","Package":"p","Test":"A","Key":"e","Value":"4"}`,
			`{"Action":"attr","Package":"p","Test":"A","Key":"b","Value":"5"}`, `{"Action":"pass","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"p"}`),
	} {
		got := strings.Replace(read(t, reader, in), ` suite="p"`, "", 1)
		if want := `pass "A" #1 b:"5" c:"2" notes="2 attributes left out"` + "\n"; got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
