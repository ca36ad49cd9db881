package report_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// painter remembers which texts had a tone.
type painter struct {
	bytes.Buffer
	tones map[report.Tone][]string
}

func (p *painter) Paint(spans []report.Span) error {
	for _, span := range spans {
		p.WriteString(span.Text)
		if span.Tone != report.Neutral {
			p.tones[span.Tone] = append(p.tones[span.Tone], span.Text)
		}
	}
	return nil
}

// TestTones: a report in tones says the same, word for word; the tone is that of the sign.
func TestTones(t *testing.T) {
	findings := []runbook.Finding{
		named("cluster-exists", runbook.Yes("the cluster is there ✓ ✗ ?")),
		named("pool-wedged", runbook.No("the pool is Succeeded")),
		named("wedge-evidence", runbook.Unknown(errors.New("forbidden"))),
	}
	for name, row := range map[string]struct {
		write func(out io.Writer) error
		want  map[report.Tone]string
	}{
		"findings": {func(out io.Writer) error { return report.Findings(out, columns, findings) },
			map[report.Tone]string{report.Good: "✓", report.Bad: "✗", report.Doubtful: "?", report.Faint: "GUARD"}},
		"timeline": {func(out io.Writer) error {
			return report.Timeline(out, columns, recovered(t))
		}, map[report.Tone]string{report.Good: "remediated", report.Doubtful: "the point of no return"}},
		"plan": {func(out io.Writer) error { return report.Plan(out, columns, examplePlan()) },
			map[report.Tone]string{report.Strong: "Plan:", report.Doubtful: "the point of no return"}},
		"runs": {func(out io.Writer) error {
			return report.Runs(out, columns, []report.Listed{{Run: "r1", State: "failed"}, {Run: "r2", State: "open: failed"}})
		}, map[report.Tone]string{report.Bad: "  failed", report.Doubtful: "  open: failed"}},
		"last line": {func(out io.Writer) error {
			return report.Conclude(out, "Failed on aks-1: no.", engine.Result{Outcome: runbook.Failed})
		}, map[report.Tone]string{report.Bad: "Failed on aks-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var plain bytes.Buffer
			painted := &painter{tones: map[report.Tone][]string{}}
			if err := row.write(&plain); err != nil {
				t.Fatal(err)
			}
			if err := row.write(painted); err != nil {
				t.Fatal(err)
			}
			if plain.String() != painted.String() {
				t.Errorf("in tones:\n%s\nwithout:\n%s", painted.String(), plain.String())
			}
			for tone, text := range row.want {
				if !strings.Contains(strings.Join(painted.tones[tone], "\n"), text) {
					t.Errorf("tone %d: %q, want %q", tone, painted.tones[tone], text)
				}
			}
		})
	}
}

// TestUsual: the median of what was done in the newest runs of the same runbook; what can't be read counts for nothing.
func TestUsual(t *testing.T) {
	store := journal.NewMemory()
	now := time.Date(2026, 11, 22, 2, 0, 0, 0, time.UTC)
	tick := func() time.Time { return now }
	record := func(run, name string, took time.Duration, result journal.Result, between ...journal.Kind) {
		t.Helper()
		header := journal.Header{Run: run, Runbook: name}
		made, err := journal.Create(t.Context(), store, journal.NoLease(1), tick, header)
		if err != nil {
			t.Fatal(err)
		}
		add := func(kind journal.Kind, step string, data any) {
			if err := made.Append(t.Context(), kind, step, data); err != nil {
				t.Fatal(err)
			}
		}
		add(journal.Intended, "drain", journal.Intent{Attempt: 1})
		now = now.Add(took)
		for _, kind := range between {
			add(kind, "", journal.Resumption{})
		}
		add(journal.Outcome, "drain", result)
	}
	done := journal.Result{Result: journal.Done}
	for i, minutes := range []int{3, 90, 4, 5, 1} {
		record("run-"+string(rune('a'+i)), "mine", time.Duration(minutes)*time.Minute, done)
	}
	record("run-f", "another", time.Hour, done)
	record("run-g", "mine", time.Hour, journal.Result{Result: journal.Failure})
	record("run-h", "mine", time.Hour, done, journal.Resumed)
	if err := store.Create(t.Context(), "run-i"); err != nil {
		t.Fatal(err)
	}
	if err := store.Append(t.Context(), "run-i", 1, []byte("not a record")); err != nil {
		t.Fatal(err)
	}
	mine := func(header journal.Header) bool { return header.Runbook == "mine" }
	usual := report.Usual(t.Context(), store, mine)
	if len(usual) != 1 || usual["drain"] != 4*time.Minute {
		t.Errorf("usual: %v", usual)
	}
	if none := report.Usual(t.Context(), store, func(journal.Header) bool { return false }); len(none) > 0 {
		t.Errorf("of no run: %v", none)
	}
}
