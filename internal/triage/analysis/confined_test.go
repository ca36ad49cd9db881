package analysis_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/change"
)

// TestABadClusterIsNotTheChange: all that ran on a bad cluster runs through the change, and nothing else does.
func TestABadClusterIsNotTheChange(t *testing.T) {
	components, err := change.ParseMap("map.yaml", []byte(`components: [{name: gpu, paths: ["pkg/gpu/**"], scenarios: ["TestGPU*"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	for rule, row := range map[string]struct {
		cluster func(test string, i int) string
		want    triage.Verdict
	}{
		"all on one cluster": {func(test string, _ int) string { return "cluster-" + test }, triage.Undecided},
		"of some it isn't known where they ran": {func(test string, i int) string {
			if test == "GPU" && i < 3 {
				return ""
			}
			return "cluster-" + test
		}, triage.Undecided},
		"what doesn't run it passes there": {
			func(string, int) string { return "cluster-a" }, triage.SuspectedChange,
		},
		"on several": {
			func(_ string, i int) string { return fmt.Sprint("cluster-", i%3) }, triage.SuspectedChange,
		},
	} {
		t.Run(rule, func(t *testing.T) {
			var out strings.Builder
			for i := range 100 {
				test, action := "Disk", "pass"
				if i < 9 {
					test = "GPU"
				}
				event := func(rest string) {
					fmt.Fprintf(&out, `{"Package":"e2e","Test":"Test%s%d",%s}`+"\n", test, i, rest)
				}
				if cluster := row.cluster(test, i); cluster != "" {
					event(fmt.Sprintf(`"Action":"attr","Key":"cluster","Value":%q`, cluster))
				}
				if i < 8 {
					action = "fail"
					event(`"Action":"output","Output":"    a_test.go:7: volume was never mounted\n"`)
				}
				event(fmt.Sprintf(`"Action":%q`, action))
			}
			out.WriteString(`{"Package":"e2e","Action":"fail"}` + "\n")
			result, err := analyzed(t, analysis.Request{
				Paths: []string{write(t, filepath.Join(t.TempDir(), "run.json"), out.String())}, Map: components,
				Change: &change.Change{Files: []change.File{{Path: "pkg/gpu/install.go", Status: change.Modified}}},
				Now:    time.Unix(1e9, 0), Thresholds: triage.Default(),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := result.Document.Groups[0]; got.Verdict != row.want {
				t.Errorf("%s, want %s: %s; %s", got.Verdict, row.want, got.Cause.Text, got.Alternative.Text)
			}
		})
	}
}
