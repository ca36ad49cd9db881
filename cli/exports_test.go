package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// exported is a record with exports that no terminal should see and no text is.
func exported(t *testing.T, store journal.Store) *journal.Record {
	t.Helper()
	record, err := journal.Create(t.Context(), store, journal.NoLease(1), time.Now,
		journal.Header{Run: "run-1", Runbook: "x", Target: runbook.Target{ID: "lamp/1"}})
	for name, content := range map[string]string{"bundle-1": "\x1f\x8b\xff\x1b[2J", "bundle-0": "password: hunter2\n"} {
		if err == nil {
			err = record.PutExport(t.Context(), name, []byte(content))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// TestExportsArePrintedAsTheyWereKept: listed by name, size and digest; printed byte by byte, in the order asked for.
func TestExportsArePrintedAsTheyWereKept(t *testing.T) {
	b := newBench(t, "healthy")
	b.byHand = true
	record := exported(t, journal.NewFile(b.journal))
	show := []string{"runs", "show", "run-1", "--journal", b.journal}
	out, _ := b.types(0, append(show, "--exports")...)
	contains(t, out, "NAME", "bundle-0  18 ", record.Exports()[0].Sum, "bundle-1  7 ",
		"2 exports of run run-1. hint: salve runs show run-1 --export NAME > FILE")
	if strings.Contains(out, "hunter2") {
		t.Errorf("the list shows what was kept: %s", out)
	}
	out, _ = b.types(0, append(show, "--exports", "--output", "json")...)
	var list struct {
		Kind    string
		Exports []journal.Export
	}
	err := json.Unmarshal([]byte(out), &list)
	if err != nil || list.Kind != "exports" || !slices.Equal(list.Exports, record.Exports()) {
		t.Errorf("%v: %s", err, out)
	}
	out, _ = b.types(0, append(show, "--export", "bundle-1", "--export", "bundle-0")...)
	if want := "\x1f\x8b\xff\x1b[2Jpassword: hunter2\n"; out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	const together = "--requests, --exports and --export together"
	for _, test := range []struct {
		says  string
		flags []string
	}{
		{`export "bundle-7" not found in run "run-1". hint: salve runs show run-1 --journal ` +
			b.journal + ` --exports`,
			[]string{"--export", "bundle-0", "--export", "bundle-7"}},
		{"not --output json", []string{"--export", "bundle-0", "--output", "json"}},
		{together, []string{"--export", "bundle-0", "--exports"}},
		{together, []string{"--export", "bundle-0", "--requests"}},
		{together, []string{"--requests", "--exports"}},
	} {
		out, log := b.types(exitUsage, append(slices.Clone(show), test.flags...)...)
		if contains(t, out+log, test.says); strings.Contains(out, "hunter2") {
			t.Errorf("it was printed: %s", out)
		}
	}
}

// barred is a journal of who may read records and no exports.
type barred struct{ *journal.Memory }

func (barred) Export(context.Context, string, string) ([]byte, error) {
	return nil, apierr.New(apierr.Denied, "secrets is forbidden")
}

// TestForbiddenExportNamesTheRole: exports take another right than records.
func TestForbiddenExportNamesTheRole(t *testing.T) {
	var out bytes.Buffer
	a := &app{stdout: &stream{out: &out}}
	err := a.printExports(t.Context(), exported(t, barred{journal.NewMemory()}), []string{"bundle-0"})
	const role = "salve-exports of deploy/exports-role.yaml"
	if apierr.ClassOf(err) != apierr.Denied || !strings.Contains(err.Error(), role) || out.Len() > 0 {
		t.Errorf("got %v; printed %q", err, out.String())
	}
}

// TestExportsGoToNoTerminal: they may hold what it would obey, and passwords.
func TestExportsGoToNoTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	a := &app{stdout: &stream{out: terminal}}
	err = a.printExports(t.Context(), exported(t, journal.NewMemory()), []string{"bundle-0"})
	if err == nil || !strings.Contains(err.Error(), "hint: > FILE") {
		t.Errorf("got %v", err)
	}
}

// TestSpoiledExportIsNotPrinted: nor one beside it, which was read before.
func TestSpoiledExportIsNotPrinted(t *testing.T) {
	var out bytes.Buffer
	a := &app{stdout: &stream{out: &out}}
	err := a.printExports(t.Context(), exported(t, spoiling{journal.NewMemory()}), []string{"bundle-0", "bundle-1"})
	var broken *journal.BrokenError
	if !errors.As(err, &broken) || out.Len() > 0 {
		t.Errorf("got %v; printed %q", err, out.String())
	}
}

// spoiling is a journal in which somebody has edited one export.
type spoiling struct{ *journal.Memory }

func (s spoiling) Export(ctx context.Context, run, name string) ([]byte, error) {
	content, err := s.Memory.Export(ctx, run, name)
	if strings.HasPrefix(name, "bundle-1") {
		content[0]++
	}
	return content, err
}
