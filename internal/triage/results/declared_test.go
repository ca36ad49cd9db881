package results_test

import (
	"errors"
	"strings"
	"testing"

	"salve/internal/triage/results"
)

func TestASuiteThatDeclaresMoreThanItHasLostCases(t *testing.T) {
	const passed, failed = `<testcase name="a"/>`, `<testcase name="b"><failure/></testcase>`
	for rule, row := range map[string]struct{ doc, want string }{
		"fewer cases":                {`<testsuite name="s" tests="10" failures="3">` + passed + `</testsuite>`, `suite "s" declares 10 cases and has 1`},
		"fewer failures":             {`<testsuite name="s" tests="1" failures="3">` + passed + `</testsuite>`, `suite "s" declares 3 failures or errors and has 0`},
		"in all suites":              {`<testsuites tests="3"><testsuite>` + passed + `</testsuite></testsuites>`, `suite "" declares 3 cases and has 1`},
		"as many":                    {`<testsuite tests="2" failures="1" errors="0">` + passed + failed + `</testsuite>`, ""},
		"more":                       {`<testsuite tests="1">` + passed + failed + `</testsuite>`, ""},
		"nested, counted":            {`<testsuite tests="2" failures="1"><testsuite tests="1">` + passed + `</testsuite>` + failed + `</testsuite>`, ""},
		"nested, not counted":        {`<testsuite tests="1"><testsuite tests="1">` + passed + `</testsuite>` + failed + `</testsuite>`, ""},
		"a failure that is an error": {`<testsuite failures="1" errors="1">` + failed + `</testsuite>`, ""},
		"several results of a case":  {`<testsuite failures="2"><testcase name="a"><failure/><failure/></testcase></testsuite>`, ""},
		"reruns":                     {`<testsuite failures="2"><testcase name="a"><failure/><rerunFailure/></testcase></testsuite>`, ""},
		"subtests of pytest":         {`<testsuite name="pytest" tests="5">` + passed + `</testsuite>`, ""},
		"no number":                  {`<testsuite tests="many" failures="-1">` + passed + `</testsuite>`, ""},
	} {
		t.Run(rule, func(t *testing.T) {
			got := ""
			for _, err := range (results.Reader{Stdin: strings.NewReader("\n" + row.doc)}).Cases(t.Context(), "-") {
				var p *results.Problem
				var missing *results.MissingCases
				if errors.As(err, &p) && errors.As(err, &missing) && p.Line == 2 {
					got = p.Reason
				}
			}
			if got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
