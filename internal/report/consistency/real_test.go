package consistency_test

import (
	"os"
	"strings"
	"testing"

	"salve/internal/report/consistency"
)

// outside are post-mortems of the Kubernetes test-infra team; they are not part of the project.
const outside = "../../../../shared/triage/postmortems/"

func checked(t *testing.T, raw []byte) []consistency.Finding {
	t.Helper()
	found, err := consistency.Check(raw, consistency.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRealPostMortems(t *testing.T) {
	if _, err := os.Stat(outside); err != nil {
		t.Skip("../shared/triage/postmortems is not there")
	}
	for name, wants := range map[string][]string{
		"2019-01-23.md": {"16 hours", "without an owner", "TODO"},
		"2019-02-05.md": nil,
		"2019-02-08.md": {"1:46pm - 5:30pm", "600 pending pods", "without an owner"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(outside + name)
			if err != nil {
				t.Fatal(err)
			}
			found := checked(t, raw)
			var all strings.Builder
			for _, f := range found {
				t.Log(f.Rule, f.Line, f.Message, f.Quotes)
				all.WriteString(f.Message + "\n")
			}
			for _, want := range wants {
				if !strings.Contains(all.String(), want) {
					t.Errorf("%q is not found", want)
				}
			}
			if wants == nil && len(found) > 0 {
				t.Errorf("%d findings in a post-mortem that is consistent", len(found))
			}
		})
	}
}
