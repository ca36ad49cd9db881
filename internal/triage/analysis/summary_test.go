package analysis_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/analysis"
)

// TestAFewStrayFailuresDontHideAnOutage: whoever reads one sentence reads what most failures are.
func TestAFewStrayFailuresDontHideAnOutage(t *testing.T) {
	var lines strings.Builder
	scenario := func(name, cluster, failure string) {
		fmt.Fprintf(&lines, `{"Action":"attr","Package":"e2e","Test":%q,"Key":"cluster","Value":%q}`+"\n", name, cluster)
		action := "pass"
		if failure != "" {
			action = "fail"
			fmt.Fprintf(&lines, `{"Action":"output","Package":"e2e","Test":%q,"Output":"    a_test.go:7: %s\n"}`+"\n",
				name, failure)
		}
		fmt.Fprintf(&lines, `{"Action":%q,"Package":"e2e","Test":%q}`+"\n", action, name)
	}
	for i := range 40 {
		scenario(fmt.Sprint("TestBad", i), "bad", "cannot reach the API server of the cluster")
		scenario(fmt.Sprint("TestGood", i), "good", "")
	}
	scenario("TestStray", "good", "expected three widgets and found none")
	lines.WriteString(`{"Action":"fail","Package":"e2e"}` + "\n")
	folder := t.TempDir()
	write(t, filepath.Join(folder, "run.json"), lines.String())
	result, err := analyzed(t, analysis.Request{
		Paths: []string{folder}, Now: time.Unix(1e9, 0), Thresholds: triage.Default(),
	})
	if err != nil {
		t.Fatal(err)
	}
	d := result.Document
	want := "41 of 81 scenarios failed, in 2 ways: 1 undecided, 40 known-infrastructure. " +
		"Of 40 failures: 40 of 40 go with cluster=bad; no change was given to compare with."
	if d.Summary != want || d.Groups[0].Failures != 40 || d.Verdict != triage.Undecided {
		t.Errorf("%s, first of %d: %s", d.Verdict, d.Groups[0].Failures, d.Summary)
	}
}
