package metrics_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"salve/engine"
	"salve/internal/telemetry/metrics"
	"salve/internal/telemetry/telemetrytest"
	"salve/journal"
)

// scraped is what a scrape gives.
func scraped(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	return answer.Body.String()
}

func TestWhatRunsCameToIsCounted(t *testing.T) {
	m := metrics.New("")
	for _, run := range []telemetrytest.Run{{}, {}, {Blind: true}, {Breaks: "close"}} {
		run.Watch, run.Appended = m.Tell, m.Appended
		run.Execute(t)
	}
	m.Leased(3*time.Second, nil)
	m.Leased(time.Minute, &journal.HeldError{})
	got := scraped(t, m)
	for _, want := range []string{
		`salve_runs_started_total{how="opened",runbook="shut-valve"} 4`,
		`salve_runs_total{outcome="remediated",runbook="shut-valve"} 2`,
		`salve_runs_total{outcome="undecided",runbook="shut-valve"} 1`,
		`salve_runs_total{outcome="failed",runbook="shut-valve"} 1`,
		`salve_run_duration_seconds_count{outcome="remediated",runbook="shut-valve"} 2`,
		`salve_run_last_end_timestamp_seconds{outcome="remediated",runbook="shut-valve"} 1.`,
		`salve_step_duration_seconds_count{result="done",runbook="shut-valve",step="drain"} 2`,
		`salve_step_duration_seconds_count{result="failed",runbook="shut-valve",step="close"} 1`,
		`salve_guard_duration_seconds_count{guard="water-stopped",runbook="shut-valve"} 2`,
		`salve_findings_total{answer="unknown",guard="water-runs",runbook="shut-valve"} 1`,
		`salve_unknown_findings_total{cause="denied",guard="water-runs",runbook="shut-valve"} 1`,
		`salve_lease_wait_duration_seconds_count{result="done"} 1`,
		`salve_lease_wait_duration_seconds_count{result="failed"} 1`,
		`salve_journal_append_duration_seconds_count{result="done"} `,
		`salve_journal_entries_total `,
	} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("%s is not told", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestTheFileIsWhatPrometheusReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "salve.prom")
	m := metrics.New(path)
	telemetrytest.Run{Watch: m.Tell}.Execute(t)
	if _, err := os.Stat(path); err == nil {
		t.Error("it is there before the end")
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(string(raw))); err != nil {
		t.Error(err)
	}
	problems, err := promlint.New(strings.NewReader(string(raw))).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if err := metrics.New(filepath.Join(t.TempDir(), "none", "salve.prom")).Close(t.Context()); err == nil {
		t.Error("a file in a folder that is not there is no error")
	}
}

func TestNoRunClusterOrTargetIsALabel(t *testing.T) {
	m := metrics.New("")
	for i := range 3 {
		telemetrytest.Run{Watch: m.Tell, Name: fmt.Sprintf("20261125-00000%d-abcdef", i)}.Execute(t)
	}
	for line := range strings.Lines(scraped(t, m)) {
		if strings.Contains(line, "20261125") || strings.Contains(line, "valve/7") || strings.Contains(line, "valve 7") {
			t.Error(line)
		}
	}
}

func TestNamesOfStepsAreBounded(t *testing.T) {
	m := metrics.New("")
	for i := range 1000 {
		step := fmt.Sprintf("group/step-%d", i)
		m.Tell(engine.Event{Kind: engine.StepBegan, Run: "r", Runbook: "pipeline", Step: step, Attempt: 1})
		m.Tell(engine.Event{Kind: engine.StepEnded, Run: "r", Runbook: "pipeline", Step: step,
			Result: &journal.Result{Result: journal.Done}})
	}
	got := scraped(t, m)
	if series := strings.Count(got, "salve_step_duration_seconds_count{"); series != 201 {
		t.Errorf("%d series", series)
	}
	want := `salve_step_duration_seconds_count{result="done",runbook="pipeline",step="other"} 800`
	if !strings.Contains(got, want) {
		t.Errorf("%s is not told", want)
	}
}

// TestAnEndIsCountedOnce: how long a step took is known from its beginning, and that is told once.
func TestAnEndIsCountedOnce(t *testing.T) {
	m := metrics.New("")
	m.Tell(engine.Event{Kind: engine.StepBegan, Run: "r", Runbook: "pipeline", Step: "close", Attempt: 1})
	for range 3 {
		m.Tell(engine.Event{Kind: engine.StepEnded, Run: "r", Runbook: "pipeline", Step: "close",
			Result: &journal.Result{Result: journal.Done}})
	}
	want := `salve_step_duration_seconds_count{result="done",runbook="pipeline",step="close"} 1`
	if got := scraped(t, m); !strings.Contains(got, want) {
		t.Errorf("%s is not told:\n%s", want, got)
	}
}
