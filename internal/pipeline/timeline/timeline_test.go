package timeline_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/pipeline/timeline"
	"salve/journal"
	"salve/runbook"
)

var update = flag.Bool("update", false, "write the golden files anew")

// history is a run with a step of every fate.
func history(t *testing.T) *journal.History {
	t.Helper()
	ctx := context.Background()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	record, err := journal.Create(ctx, journal.NewMemory(), journal.NoLease(1), func() time.Time { return now },
		journal.Header{
			Schema: 1, Run: "20260301-120000-abcdef", Runbook: "pipeline",
			Target: runbook.Target{ID: "t", Name: `Example <Fleet> & "Co" in mgmt`},
		})
	if err != nil {
		t.Fatal(err)
	}
	add := func(after time.Duration, kind journal.Kind, step string, data any) {
		t.Helper()
		now = now.Add(after)
		if err := record.Append(ctx, kind, step, data); err != nil {
			t.Fatal(err)
		}
	}
	add(0, journal.Planned, "", runbook.Plan{Steps: []runbook.PlannedStep{
		{Name: "global/lookup"}, {Name: "fleet/grow"}, {Name: "fleet/flaky"}, {Name: "fleet/cut-off"}, {Name: "fleet/open"},
		{Name: "fleet/never"}, {Name: "fleet/left-out"},
	}})
	add(0, journal.Outcome, "fleet/left-out",
		journal.Result{Result: journal.Skipped, Reason: "left out by --skip-actions"})
	add(0, journal.Intended, "global/lookup", journal.Intent{Attempt: 1})
	add(0, journal.Intended, "fleet/flaky", journal.Intent{Attempt: 1})
	add(40*time.Second, journal.Outcome, "global/lookup", journal.Result{Attempt: 1, Result: journal.Done})
	add(0, journal.Intended, "fleet/grow", journal.Intent{Attempt: 1})
	add(20*time.Second, journal.Outcome, "fleet/flaky", journal.Result{Attempt: 1, Result: journal.Failure,
		Reason: "busy"})
	add(time.Minute, journal.Intended, "fleet/flaky", journal.Intent{Attempt: 2})
	add(30*time.Second, journal.Outcome, "fleet/flaky", journal.Result{Attempt: 2, Result: journal.Done})
	add(0, journal.Outcome, "fleet/grow", journal.Result{Attempt: 1, Result: journal.Failure,
		Reason: "exit code 1: no <capacity> \x1b[31m"})
	add(0, journal.Intended, "fleet/cut-off", journal.Intent{Attempt: 1})
	add(0, journal.Intended, "fleet/open", journal.Intent{Attempt: 1})
	add(10*time.Second, journal.Outcome, "fleet/cut-off", journal.Result{Attempt: 1, Result: journal.Unknown,
		Reason: "it was cut off"})
	return record.History
}

func TestRenderings(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *journal.History, ...timeline.Part) error{
		"junit.xml": timeline.JUnit, "timeline.svg": timeline.Timeline,
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(&out, history(t)); err != nil {
				t.Fatal(err)
			}
			if err := wellFormed(out.Bytes()); err != nil {
				t.Errorf("not XML: %v", err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if difference := cmp.Diff(string(want), out.String()); difference != "" {
				t.Errorf("%s changed (-update writes it anew):\n%s", path, difference)
			}
		})
	}
}

func wellFormed(text []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestBeginning: a run that has hardly begun can be shown as well.
func TestBeginning(t *testing.T) {
	record, err := journal.Create(context.Background(), journal.NewMemory(), journal.NoLease(1), time.Now,
		journal.Header{Run: "r", Target: runbook.Target{ID: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range []func(io.Writer, *journal.History, ...timeline.Part) error{timeline.JUnit, timeline.Timeline} {
		var out bytes.Buffer
		if err := write(&out, record.History); err != nil || wellFormed(out.Bytes()) != nil {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}

// TestTook: of steps that were tried again the last attempt counts; of those that
// were not done, or of which only an operator says so, nothing is known.
func TestTook(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	record, err := journal.Create(ctx, journal.NewMemory(), journal.NoLease(1), func() time.Time { return now },
		journal.Header{Schema: 1, Run: "run", Runbook: "pipeline"})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		after  time.Duration
		step   string
		result journal.Result
	}{
		{40 * time.Second, "fleet/lookup", journal.Result{Result: journal.Done}},
		{20 * time.Second, "fleet/flaky", journal.Result{Result: journal.Failure}},
		{30 * time.Second, "fleet/flaky", journal.Result{Result: journal.Done}},
		{10 * time.Second, "fleet/broken", journal.Result{Result: journal.Failure}},
		{9 * time.Hour, "fleet/answered", journal.Result{Result: journal.Done, Observed: true}},
	} {
		for _, entry := range []struct {
			after time.Duration
			kind  journal.Kind
			data  any
		}{{0, journal.Intended, journal.Intent{}}, {one.after, journal.Outcome, one.result}} {
			now = now.Add(entry.after)
			if err := record.Append(ctx, entry.kind, one.step, entry.data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := record.Append(ctx, journal.Outcome, "fleet/left-out", journal.Result{Result: journal.Skipped}); err != nil {
		t.Fatal(err)
	}
	took, err := timeline.Took(record.History)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{"fleet/lookup": 40 * time.Second, "fleet/flaky": 30 * time.Second}
	if diff := cmp.Diff(want, took); diff != "" {
		t.Error(diff)
	}
}
