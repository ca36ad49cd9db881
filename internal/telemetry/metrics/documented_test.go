package metrics_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"salve/internal/telemetry/metrics"
	"salve/internal/telemetry/telemetrytest"
)

// TestEachMetricIsDocumented in docs/monitoring.md, and none that there is not.
func TestEachMetricIsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, told []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(salve_[a-z_]+)` \\|").FindAllStringSubmatch(string(raw), -1) {
		documented = append(documented, row[1])
	}
	m := metrics.New("")
	for _, run := range []telemetrytest.Run{{}, {Blind: true}} {
		run.Watch, run.Appended = m.Tell, m.Appended
		run.Execute(t)
	}
	m.Leased(0, nil)
	for _, family := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(scraped(t, m), -1) {
		told = append(told, family[1])
	}
	slices.Sort(documented)
	slices.Sort(told)
	if !slices.Equal(documented, told) {
		t.Errorf("documented are %q, told are %q", documented, told)
	}
}
