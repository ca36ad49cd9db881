package watch

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"salve/internal/prow/finding"
)

// Metrics serves what holds as Prometheus metrics. docs/prow.md says what to alert on.
type Metrics struct {
	registry  *prometheus.Registry
	findings  *prometheus.GaugeVec
	unknown   *prometheus.GaugeVec
	notGiven  *prometheus.GaugeVec
	objects   *prometheus.GaugeVec
	evaluated prometheus.Gauge
	// known are the findings that have a series.
	known map[[2]string]bool
}

// NewMetrics makes the metrics, without a value for anything that was not told yet.
func NewMetrics() *Metrics {
	vector := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "salve", Subsystem: "prow", Name: name, Help: help},
			labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		findings: vector("findings", "Findings of a rule that hold now, by severity.", "rule", "severity"),
		unknown:  vector("rule_unknown", "1 where a rule can't see an input, 0 where it can.", "rule"),
		notGiven: vector("rule_not_given", "1 where nobody gave a rule an input, 0 where it has all.", "rule"),
		objects:  vector("objects", "Objects that are seen: pods, strays, jobs, pending jobs, malformed ones.", "kind"),
		evaluated: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "salve", Subsystem: "prow",
			Name: "last_evaluation_timestamp_seconds", Help: "When the rules were last asked."}),
		known: map[[2]string]bool{},
	}
	m.registry.MustRegister(m.findings, m.unknown, m.notGiven, m.objects, m.evaluated, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Tell sets the metrics. A rule has a series for each severity, so that one which ends is 0 and not absent.
func (m *Metrics) Tell(_ context.Context, report Report) error {
	counts := map[[2]string]float64{}
	for _, verdict := range report.Verdicts {
		m.unknown.WithLabelValues(verdict.Rule).Set(oneIf(verdict.Reason != "" && !verdict.NotGiven))
		m.notGiven.WithLabelValues(verdict.Rule).Set(oneIf(verdict.NotGiven))
		for _, severity := range []finding.Severity{finding.Info, finding.Warn, finding.Alert} {
			m.known[[2]string{verdict.Rule, string(severity)}] = true
		}
	}
	for _, f := range report.Findings {
		at := [2]string{f.Rule, string(f.Severity)}
		counts[at]++
		m.known[at] = true
	}
	for at := range m.known {
		m.findings.WithLabelValues(at[0], at[1]).Set(counts[at])
	}
	for kind, n := range map[string]int{"pod": report.Counts.Pods, "stray": report.Counts.Strays,
		"job": report.Counts.Jobs, "pending_job": report.Counts.Pending, "malformed": report.Counts.Malformed} {
		m.objects.WithLabelValues(kind).Set(float64(n))
	}
	m.evaluated.Set(float64(report.At.UnixNano()) / 1e9)
	return nil
}

func oneIf(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}
