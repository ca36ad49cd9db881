package results_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/results"
)

// read gives the cases and problems of a standard input, a line each.
func read(t *testing.T, reader results.Reader, input string) string {
	t.Helper()
	reader.Stdin = strings.NewReader(input)
	var out strings.Builder
	for c, err := range reader.Cases(t.Context(), "-") {
		if err != nil {
			fmt.Fprintf(&out, "problem: %v\n", err)
			continue
		}
		checkCase(t, c)
		out.WriteString(render(c))
	}
	return out.String()
}

// render is a case with what is set of it.
func render(c results.Case) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %q #%d", c.Outcome, c.Name, c.Attempt)
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&out, " %s=%q", name, value)
		}
	}
	field("suite", c.Suite)
	field("class", c.Class)
	if c.Duration > 0 {
		fmt.Fprintf(&out, " took=%v", c.Duration)
	}
	if c.Subtests {
		out.WriteString(" subtests")
	}
	field("type", c.Type)
	field("message", c.Message)
	field("failure", c.Failure.String())
	field("output", c.Output.String())
	for _, a := range c.Attributes {
		fmt.Fprintf(&out, " %s:%q", a.Name, a.Value)
	}
	if c.File != "" {
		fmt.Fprintf(&out, " at=%s:%d", c.File, c.Line)
	}
	field("notes", strings.Join(c.Notes, "; "))
	return out.String() + "\n"
}

func expect(t *testing.T, got string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n")+"\n", got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
