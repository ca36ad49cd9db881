package metrics

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// mostSteps bounds the names of steps that are labels: those of a runbook are few, those of a pipeline are its
// author's.
const mostSteps = 200

// otherSteps stands for the names beyond.
const otherSteps = "other"

// Metrics are those of one process.
type Metrics struct {
	registry *prometheus.Registry
	// file is where they are written in the text format; empty where they are not.
	file string

	started  *prometheus.CounterVec
	ended    *prometheus.CounterVec
	lastEnd  *prometheus.GaugeVec
	runs     *prometheus.HistogramVec
	steps    *prometheus.HistogramVec
	guards   *prometheus.HistogramVec
	findings *prometheus.CounterVec
	unknown  *prometheus.CounterVec
	appends  *prometheus.HistogramVec
	entries  prometheus.Counter
	leases   *prometheus.HistogramVec

	mu    sync.Mutex
	began map[moment]time.Time
	names map[string]bool
}

// moment is the beginning of a run, or of one of its steps.
type moment struct{ run, step string }

// New makes the metrics. They are written to file when they are closed; an empty one writes none.
func New(file string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), file: file, began: map[moment]time.Time{}, names: map[string]bool{},
		started: counters("runs_started_total", "Runs that this process opened or resumed.", "runbook", "how"),
		ended:   counters("runs_total", "Runs that ended in this process, by outcome.", "runbook", "outcome"),
		lastEnd: lastEnd(),
		runs:    histograms("run_duration_seconds", "How long runs took in this process.", minutes(), "runbook", "outcome"),
		steps: histograms("step_duration_seconds", "How long attempts at steps took.", minutes(), "runbook", "step",
			"result"),
		guards:   histograms("guard_duration_seconds", "How long guards took to answer.", seconds(), "runbook", "guard"),
		findings: counters("findings_total", "Findings of guards and checks.", "runbook", "guard", "answer"),
		unknown:  counters("unknown_findings_total", "Guards that could not see, by cause.", "runbook", "guard", "cause"),
		appends:  histograms("journal_append_duration_seconds", "How long writes to the journal took.", seconds(), "result"),
		entries: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "journal_entries_total",
			Help: "Entries added to journals."}),
		leases: histograms("lease_wait_duration_seconds", "How long runs waited for a lease that others held.", minutes(),
			"result"),
	}
	m.registry.MustRegister(m.started, m.ended, m.lastEnd, m.runs, m.steps, m.guards, m.findings, m.unknown, m.appends,
		m.entries, m.leases)
	return m
}

const namespace = "salve"

// minutes and seconds are bounds of buckets, in seconds: of what waits for a cloud, and of what answers at once.
func minutes() []float64 { return []float64{.1, 1, 5, 15, 60, 150, 300, 600, 1200, 3600, 10800} }
func seconds() []float64 {
	return []float64{.001, .005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(
		prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

func lastEnd() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "run_last_end_timestamp_seconds",
		Help: "When a run last ended in this process, in seconds since 1970."}, []string{"runbook", "outcome"})
}

// Handler serves them.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Tell counts an event.
func (m *Metrics) Tell(event engine.Event) {
	switch event.Kind {
	case engine.RunBegan:
		m.started.WithLabelValues(event.Runbook, event.Text).Inc()
		m.begin(moment{run: event.Run}, event.At)
	case engine.Found:
		m.found(event.Runbook, *event.Finding, event.Took)
	case engine.StepBegan:
		m.begin(moment{event.Run, event.Step}, event.At)
	case engine.StepEnded:
		if took, known := m.end(moment{event.Run, event.Step}, event.At); known {
			m.steps.WithLabelValues(event.Runbook, m.step(event.Step), string(event.Result.Result)).Observe(took)
		}
	case engine.RunEnded:
		outcome := string(event.Verdict.Outcome)
		m.ended.WithLabelValues(event.Runbook, outcome).Inc()
		m.lastEnd.WithLabelValues(event.Runbook, outcome).Set(float64(event.At.UnixMilli()) / 1e3) //nolint:mnd // ms in a s
		if took, known := m.end(moment{run: event.Run}, event.At); known {
			m.runs.WithLabelValues(event.Runbook, outcome).Observe(took)
		}
	default: // the rest is for people
	}
}

func (m *Metrics) found(book string, finding runbook.Finding, took time.Duration) {
	m.guards.WithLabelValues(book, finding.Guard).Observe(took.Seconds())
	m.findings.WithLabelValues(book, finding.Guard, string(finding.Answer)).Inc()
	if finding.Answer != runbook.AnswerUnknown {
		return
	}
	cause := "undecidable"
	if finding.Reading != nil && finding.Reading.Failure != nil {
		cause = string(finding.Reading.Failure.Absence)
	}
	m.unknown.WithLabelValues(book, finding.Guard, cause).Inc()
}

// Appended measures a write to a journal.
func (m *Metrics) Appended(entries int, took time.Duration, err error) {
	m.appends.WithLabelValues(result(err)).Observe(took.Seconds())
	if err == nil {
		m.entries.Add(float64(entries))
	}
}

// Leased measures how long a run waited for a lease that others held.
func (m *Metrics) Leased(took time.Duration, err error) {
	m.leases.WithLabelValues(result(err)).Observe(took.Seconds())
}

func result(err error) string {
	if err != nil {
		return string(journal.Failure)
	}
	return string(journal.Done)
}

func (m *Metrics) begin(what moment, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began[what] = at
}

func (m *Metrics) end(what moment, at time.Time) (took float64, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	began, known := m.began[what]
	delete(m.began, what)
	return at.Sub(began).Seconds(), known
}

// step is the label of a step.
func (m *Metrics) step(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.names[name] {
		if len(m.names) >= mostSteps {
			return otherSteps
		}
		m.names[name] = true
	}
	return name
}

// Close writes the file, whole or not at all.
func (m *Metrics) Close(context.Context) error {
	if m.file == "" {
		return nil
	}
	if err := prometheus.WriteToTextfile(m.file, m.registry); err != nil {
		return fmt.Errorf("metrics: not written: %w", err)
	}
	return nil
}
