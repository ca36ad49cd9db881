package analysis_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/change"
	"salve/internal/triage/history"
)

// example is a scenario of the worked example.
type example struct {
	test, cluster, bootstrap string
	fails                    bool
}

// workedExample is 320 scenarios: cluster A ran 112 of which 104 failed, B 40 of which 11 did, and others 168 that
// passed; 150 are scriptless, of which 53 failed, and 170 are not, of which 62 did. The failures are in 75 tests.
func workedExample() []example {
	take := func(cluster string, fails bool, scriptless, others int) []example {
		var out []example
		for i := range scriptless + others {
			e := example{cluster: cluster, fails: fails, bootstrap: "default"}
			if i < scriptless {
				e.bootstrap = "scriptless"
			}
			out = append(out, e)
		}
		return out
	}
	failA, failB := take("shared-a", true, 48, 56), take("shared-b", true, 5, 6)
	passed := slices.Concat(take("shared-a", false, 4, 4), take("shared-b", false, 14, 15))
	elsewhere := take("", false, 79, 89)
	for i := range elsewhere {
		elsewhere[i].cluster = fmt.Sprintf("shared-%c", 'c'+i%3)
	}
	var all []example
	test := 0
	add := func(of ...example) {
		for i := range of {
			of[i].test = fmt.Sprintf("TestCase%03d", test)
		}
		all = append(all, of...)
		test++
	}
	for i := 0; i < 80; i += 2 { // two failures
		add(failA[i], failA[i+1])
	}
	for i, failed := range slices.Concat(failA[80:], failB) { // one, beside a scenario that passes elsewhere
		add(failed, elsewhere[i])
	}
	passed = append(passed, elsewhere[35:]...)
	for i := 0; i < len(passed); i += 2 {
		add(passed[i], passed[i+1])
	}
	return all
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeBelow makes the folders as well.
func writeBelow(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

// goTest is the run as go test -json tells it: the cluster stands in a line of the log.
func goTest(all []example, began time.Time) string {
	var out strings.Builder
	event := func(fields map[string]any) {
		line, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	for i, e := range all {
		at := began.Add(time.Duration(i) * 10 * time.Second)
		of := func(action, output string) map[string]any {
			m := map[string]any{"Time": at, "Action": action, "Package": "example.io/e2e",
				"Test": fmt.Sprintf("%s/%s-%d", e.test, e.bootstrap, i)}
			if output != "" {
				m["Output"] = output + "\n"
			}
			return m
		}
		event(of("run", ""))
		event(of("output", "    cluster.go:31: using cluster "+e.cluster))
		if !e.fails {
			event(of("pass", ""))
			continue
		}
		event(of("output", fmt.Sprintf(
			"    pods.go:88: debug pod debug-%08x-x2x9z was not created within 4m%ds: webhook denied", i, i%60)))
		event(of("fail", ""))
	}
	event(map[string]any{"Action": "fail", "Package": "example.io/e2e"})
	return out.String()
}

const workedCatalogue = `
attributes:
  - {name: cluster, from: line, literal: "using cluster ", pattern: 'using cluster (?P<value>[a-z-]+)'}
  - {name: bootstrap, from: name, pattern: '/(?P<value>scriptless|default)'}
signatures:
  - {id: debug-pod-denied, class: infrastructure, owner: team-clusters, all: ["debug pod", "webhook denied"]}
`

const workedMap = `
components:
  - {name: node-controller, paths: ["pkg/nodecontroller/**"], where: {bootstrap: [scriptless]}}
`

const workedDiff = `diff --git a/pkg/nodecontroller/node.go b/pkg/nodecontroller/node.go
--- a/pkg/nodecontroller/node.go
+++ b/pkg/nodecontroller/node.go
@@ -1 +1,2 @@
 package nodecontroller
+// changed
`

// worked triages the example with a history folder, and records it.
func worked(t *testing.T, folder string, now time.Time) *triage.Document {
	t.Helper()
	known, err := catalogue.Parse("catalogue.yaml", []byte(workedCatalogue))
	if err != nil {
		t.Fatal(err)
	}
	components, err := change.ParseMap("map.yaml", []byte(workedMap))
	if err != nil {
		t.Fatal(err)
	}
	diff, err := change.ReadDiff(strings.NewReader(workedDiff))
	if err != nil {
		t.Fatal(err)
	}
	past, err := history.Open(t.Context(), folder, history.Options{Grouping: analysis.Grouping()})
	if err != nil {
		t.Fatal(err)
	}
	recorded := analysis.Record(past, analysis.Identity{Build: "build-4", Change: "pr-4", Time: now.Add(-time.Hour)}, now)
	result, err := analyzed(t, analysis.Request{
		Paths:  []string{write(t, filepath.Join(t.TempDir(), "run.json"), goTest(workedExample(), now.Add(-time.Hour)))},
		Change: diff, Map: components, Catalogue: known, Past: recorded, Build: "build-4", Now: now,
		Thresholds: triage.Default(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := past.Record(*recorded.Entry()); err != nil {
		t.Fatal(err)
	}
	return result.Document
}

// TestWorkedExample of the procedure, from files to its sentences.
func TestWorkedExample(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	folder := t.TempDir()
	past, err := history.Open(t.Context(), folder, history.Options{Grouping: analysis.Grouping()})
	if err != nil {
		t.Fatal(err)
	}
	for i, days := range []int{12, 8, 3} {
		_, err := past.Record(history.Entry{
			Build: fmt.Sprintf("build-%d", i+1), Change: fmt.Sprintf("pr-%d", i+1), Time: now.AddDate(0, 0, -days),
			Totals: history.Totals{Scenarios: 320, Passed: 300, Failed: 20},
			Ran:    history.SetOf([]string{"TestCase000/scriptless-0"}),
			Groups: []history.Group{{Key: "g1-0123456789abcdef", Signatures: []string{"debug-pod-denied"}, Failures: 20}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	d := worked(t, folder, now)
	if len(d.Groups) != 1 {
		t.Fatalf("%d groups", len(d.Groups))
	}
	g := d.Groups[0]
	if g.Failures != 115 || g.Tests != 75 || d.Counts.Scenarios != 320 || d.Verdict != triage.KnownInfrastructure {
		t.Errorf("%s: %d failures in %d tests, of %d scenarios", d.Verdict, g.Failures, g.Tests, d.Counts.Scenarios)
	}
	if len(g.Cause.Candidates) != 2 || g.Cause.Candidates[0].Value != "shared-a" ||
		g.Cause.Candidates[1].Value != "shared-b" ||
		g.Cause.Unexplained != 0 {
		t.Errorf("cause: %+v", g.Cause)
	}
	for _, says := range []string{
		"115 of 115 failures go with cluster=shared-a (104 of 112 fail, 92.9 %, against 11 of 208, 5.3 %)",
		"cluster=shared-b (11 of 40 fail, 27.5 %, against 0 of 168, 0.0 %)", "a cause above them can't be judged"} {
		if !strings.Contains(g.Cause.Text, says) {
			t.Errorf("the cause doesn't say %q: %s", says, g.Cause.Text)
		}
	}
	if share := g.Alternative.MaxShare; g.Alternative.State != "refuted" || share == nil ||
		*share < 0.08 || *share > 0.12 ||
		!strings.Contains(g.Alternative.Text,
			"62 of 115 failures are on scenarios that don't run component node-controller") {
		t.Errorf("alternative: %+v", g.Alternative)
	}
	if g.Confidence != triage.Medium || !strings.Contains(strings.Join(g.Reasons, "; "), "one producer only") {
		t.Errorf("confidence %s: %q", g.Confidence, g.Reasons)
	}
	for again := range 2 {
		if o := g.Occurrences; o == nil || o.Count != 4 || o.Threshold != 6 || o.Escalated {
			t.Errorf("triaged %d times before: occurrences %+v, want 4 of 6", again, o)
		}
		g = worked(t, folder, now.Add(time.Minute)).Groups[0]
	}
}
