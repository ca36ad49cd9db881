package reporttest

import (
	"context"
	"testing"
	"time"

	"salve/internal/report/postmortem"
	"salve/journal"
	"salve/runbook"
)

// Morning is when the stories begin: 08:47 in Los Angeles.
func Morning() time.Time { return time.Date(2019, 2, 5, 16, 47, 0, 0, time.UTC) }

// Writer writes a journal by hand, on a clock that its user moves.
type Writer struct {
	t      testing.TB
	now    time.Time
	record *journal.Record
}

// Open begins a journal.
func Open(t testing.TB, at time.Time, header journal.Header) *Writer {
	t.Helper()
	w := &Writer{t: t, now: at}
	header.Schema, header.Version = 1, "1"
	record, err := journal.Create(context.Background(), journal.NewMemory(), journal.NoLease(1),
		func() time.Time { return w.now }, header)
	if err != nil {
		t.Fatal(err)
	}
	w.record = record
	return w
}

// History is what was written.
func (w *Writer) History() *journal.History { return w.record.History }

// After lets time pass; a negative one is a clock that was set back.
func (w *Writer) After(d time.Duration) *Writer {
	w.now = w.now.Add(d)
	return w
}

// Write appends an entry.
func (w *Writer) Write(kind journal.Kind, step string, data any) *Writer {
	w.t.Helper()
	if err := w.record.Append(context.Background(), kind, step, data); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// Evaluated appends the findings of guards.
func (w *Writer) Evaluated(purpose string, decision journal.Verdict, findings ...runbook.Finding) *Writer {
	w.t.Helper()
	return w.Write(journal.Evaluated, "", journal.Evaluation{For: purpose, Round: 1, Findings: findings,
		Decision: decision})
}

// Step appends an attempt at a step with a budget of two minutes, and its outcome. After delete-pool is no return.
func (w *Writer) Step(name string, attempt int, took time.Duration, result journal.Result) *Writer {
	w.t.Helper()
	w.Begin(name, attempt)
	result.Attempt = attempt
	return w.After(took).Write(journal.Outcome, name, result)
}

// Begin appends an attempt whose outcome is not there yet.
func (w *Writer) Begin(name string, attempt int) *Writer {
	w.t.Helper()
	return w.Write(journal.Intended, name, journal.Intent{Attempt: attempt, Permit: "p",
		Irreversible: name == "delete-pool", BudgetSeconds: 120})
}

// Sent appends the changes that a step made.
func (w *Writer) Sent(step string, attempt int, made ...journal.Request) *Writer {
	w.t.Helper()
	return w.Write(journal.Requested, step, journal.Requests{Attempt: attempt, Permit: "p", Made: made})
}

// Named is a finding of a guard.
func Named(guard string, finding runbook.Finding) runbook.Finding {
	finding.Guard = guard
	return finding
}

// Saw is evidence.
func Saw(source string, value any) runbook.Evidence {
	return runbook.NewEvidence(source, `W/"7"`, Morning(), value)
}

// SawNodes is evidence of how many nodes of a pool serve, seen when the journal is at.
func (w *Writer) SawNodes(pool string, nodes, serving int) runbook.Evidence {
	return runbook.NewEvidence("nodes of pool "+pool, "", w.now, map[string]int{"nodes": nodes, "serving": serving})
}

// Draft makes a draft; the zone is that of Los Angeles unless another one is given.
func Draft(t testing.TB, sources postmortem.Sources, options postmortem.Options) postmortem.Draft {
	t.Helper()
	if options.Zone == nil {
		options.Zone = LosAngeles(t)
	}
	made, err := postmortem.New(sources, options)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// LosAngeles is the zone of the stories.
func LosAngeles(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}
