package journal_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

var ctx = context.Background()

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// written makes a record of four lines and gives its file.
func written(t *testing.T) (*journal.File, string) {
	t.Helper()
	backend := journal.NewFile(t.TempDir())
	record, err := journal.Create(ctx, backend, journal.NoLease(7), now,
		journal.Header{Schema: 1, Run: "run-1", Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []struct {
		kind journal.Kind
		step string
		data any
	}{
		{journal.Noted, "a", journal.Note{Name: "size", Value: []byte("3")}},
		{journal.Intended, "a", journal.Intent{Attempt: 1, Permit: "p1"}},
		{journal.Outcome, "a", journal.Result{Attempt: 1, Result: journal.Done}},
	} {
		if err := record.Append(ctx, entry.kind, entry.step, entry.data); err != nil {
			t.Fatal(err)
		}
	}
	return backend, filepath.Join(backend.Dir(), "runs", "run-1", "journal.jsonl")
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	backend, _ := written(t)
	record, err := journal.Load(ctx, backend, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	var size int
	if found, err := record.Recall("size", &size); !found || err != nil || size != 3 {
		t.Errorf("size %d, %v, %v", size, found, err)
	}
	if step := record.Step("a"); !step.Finished() || step.Permit != "p1" || record.Epoch != 7 || len(record.Entries) != 4 {
		t.Errorf("step %+v, epoch %d, %d entries", step, record.Epoch, len(record.Entries))
	}
}

func TestDamage(t *testing.T) {
	replace := func(line int, from, to string) func([]string) []string {
		return func(l []string) []string { l[line] = strings.Replace(l[line], from, to, 1); return l }
	}
	const noFollower, noLine = "does not follow", "not a journal line"
	for name, row := range map[string]struct {
		spoil func(lines []string) []string
		// line is where the record is said to be broken, and why; 0: it is believed.
		line    int
		why     string
		entries int
	}{
		"a torn last line is left out": {
			spoil: func(l []string) []string { l[3] = l[3][:len(l[3])/2]; return l }, entries: 3,
		},
		"a last line without its line feed": {
			spoil: func(l []string) []string { l[3] = strings.TrimSuffix(l[3], "\n"); return l }, entries: 3,
		},
		"a line changed in the middle": {replace(1, "size", "siZe"), 2, "does not match its hash", 0},
		"the last line changed":        {replace(3, "done", "dome"), 4, "does not match its hash", 0},
		"a hash changed":               {replace(3, `"sum":"`, `"sum":"0`), 4, "does not match its hash", 0},
		"a line removed":               {func(l []string) []string { return append(l[:1], l[2:]...) }, 2, noFollower, 0},
		"two lines exchanged":          {func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }, 2, noFollower, 0},
		"a line repeated":              {func(l []string) []string { return append(l, l[3]) }, 5, noFollower, 0},
		"the beginning removed":        {func(l []string) []string { return l[1:] }, 1, noFollower, 0},
		"half a journal": {
			func(l []string) []string { return []string{l[0], l[1][:20] + "\n", l[2]} }, 2, noLine, 0,
		},
		"text that is no journal": {func([]string) []string { return []string{"hello\n"} }, 1, noLine, 0},
		"an empty line":           {func(l []string) []string { return append(l, "\n") }, 5, noLine, 0},
		"something behind a line's end": {
			func(l []string) []string { l[2] = strings.TrimSuffix(l[2], "\n") + " x\n"; return l }, 3, noLine, 0,
		},
		"an unknown field in the line": {replace(2, `{"sum"`, `{"x":1,"sum"`), 3, noLine, 0},
		"a format in a later line":     {replace(2, `{"sum"`, `{"format":4,"sum"`), 3, `unknown field "format"`, 0},
		"no format in a later line":    {replace(2, `{"sum"`, `{"format":0,"sum"`), 3, `unknown field "format"`, 0},
		"a key in a later line":        {replace(3, `{"sum"`, `{"key":"k","sum"`), 4, `unknown field "key"`, 0},
		"another field in the entry":   {chainedLine(`{"seq":5,"x":1}`), 5, "not a journal entry", 0},
		"another number in the entry":  {chainedLine(`{"seq":6,"kind":"warning"}`), 5, noFollower, 0},
		"another line before it":       {chainedLine(`{"seq":5,"prev":"00","kind":"warning"}`), 5, noFollower, 0},
		"a beginning that is none": {
			func([]string) []string { return chainedLine(`{"seq":1,"kind":"warning"}`)(nil) }, 1, `"warning", want "opened"`, 0,
		},
		"a header that is none": {
			func([]string) []string { return chainedLine(`{"seq":1,"kind":"opened","data":"x"}`)(nil) }, 1, "not a header", 0,
		},
		"another run's header": {
			func([]string) []string { return chainedLine(`{"seq":1,"kind":"opened","data":{"run":"run-2"}}`)(nil) }, 1, `of run "run-2"`, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			backend, file := written(t)
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := row.spoil(strings.SplitAfter(string(raw), "\n")[:4])
			if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			record, err := journal.Load(ctx, backend, "run-1")
			var broken *journal.BrokenError
			switch {
			case row.line == 0 && err != nil:
				t.Fatal(err)
			case row.line == 0 && (len(record.Entries) != row.entries || !record.Torn):
				t.Errorf("%d entries, want %d; torn %t", len(record.Entries), row.entries, record.Torn)
			case row.line > 0 && (!errors.As(err, &broken) || broken.Line != row.line ||
				!strings.Contains(broken.Reason, row.why)):
				t.Errorf("got %v, want it broken at line %d: %s", err, row.line, row.why)
			case row.line > 0 && strings.Contains(err.Error(), "prune --broken") != (row.line == 1 && row.why == noLine):
				t.Errorf("it advises to delete what may be evidence, or does not where nothing can be read: %v", err)
			}
		})
	}
}

// chainedLine adds a line whose hash is right.
func chainedLine(entry string) func([]string) []string {
	sum := sha256.Sum256([]byte(entry))
	return func(l []string) []string {
		return append(l, fmt.Sprintf(`{"sum":"%s","entry":%s}`+"\n", hex.EncodeToString(sum[:]), entry))
	}
}

func TestAppendAfterATornLine(t *testing.T) {
	backend, file := written(t)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw[:len(raw)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	record, err := journal.Load(ctx, backend, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if !record.Step("a").Unsettled() {
		t.Error("the torn outcome was believed")
	}
	if err := record.Reopen(journal.NoLease(8), now); err != nil {
		t.Fatal(err)
	}
	if err := record.Append(ctx, journal.Resumed, "", journal.Resumption{}); err != nil {
		t.Fatal(err)
	}
	again, err := journal.Load(ctx, backend, "run-1")
	if err != nil || len(again.Entries) != 4 || again.Epoch != 8 || record.Torn || again.Torn {
		t.Errorf("%v, %+v", err, again)
	}
}

func TestLeaseIsOneAtATimeAndItsEpochGrows(t *testing.T) {
	backend := journal.NewFile(t.TempDir())
	first, err := backend.Lock(ctx,
		journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-1", User: "ada", Host: "north", PID: 42}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = journal.NewFile(backend.Dir()).
		Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-2"}})
	var held *journal.HeldError
	if !errors.As(err, &held) || held.Holder.PID != 42 || apierr.ClassOf(err) != apierr.Conflict {
		t.Fatalf("the second got %v", err)
	}
	if _, err := backend.Lock(ctx, journal.Claim{Target: "lamp/2", Holder: journal.Holder{}}); err != nil {
		t.Errorf("another target: %v", err)
	}
	if err := first.Release(ctx); err != nil {
		t.Fatal(err)
	}
	second, err := backend.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-2"}})
	if err != nil || second.Epoch() <= first.Epoch() {
		t.Fatalf("epochs %d and then %d, %v", first.Epoch(), second.Epoch(), err)
	}
	if err := first.Check(ctx); apierr.ClassOf(err) != apierr.Conflict || err == nil {
		t.Errorf("the first still believes in its lease: %v", err)
	}
	if err := second.Check(ctx); err != nil {
		t.Error(err)
	}
}

func TestDamagedLeaseIsRefused(t *testing.T) {
	backend := journal.NewFile(t.TempDir())
	lease, err := backend.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(backend.Dir(), "leases", "*.json"))
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{}}); err == nil ||
		!strings.Contains(err.Error(), "damaged") {
		t.Errorf("an epoch that can't be read was given away again: %v", err)
	}
}

func TestAFolderWithoutARecordIsAnEmptyOne(t *testing.T) {
	backend, _ := written(t)
	if err := os.Mkdir(filepath.Join(backend.Dir(), "runs", "run-0"), 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := journal.Find(ctx, backend, func(*journal.History) bool { return true }, func(run string, err error) {
		t.Error(run, err)
	})
	if err != nil || len(found) != 1 {
		t.Errorf("found %d, %v", len(found), err)
	}
}

func TestNamesThatAreNoRuns(t *testing.T) {
	backend := journal.NewFile(t.TempDir())
	for _, name := range []string{"", "..", "../x", "a/b", ".hidden", strings.Repeat("x", 200)} {
		if _, err := backend.Read(ctx, name); err == nil {
			t.Errorf("%q was read", name)
		}
		if err := backend.Create(ctx, name); err == nil {
			t.Errorf("%q was created", name)
		}
	}
	var missing *journal.MissingError
	if _, err := backend.Read(ctx, "run-9"); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

func TestSecretsDoNotReachTheRecord(t *testing.T) {
	backend, file := written(t)
	record, err := journal.Load(ctx, backend, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Reopen(journal.NoLease(8), now); err != nil {
		t.Fatal(err)
	}
	token := "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
	err = record.Append(ctx, journal.Warned, "a", journal.Message{Text: "Authorization: Bearer " + token})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), token) {
		t.Errorf("the token is in the journal (%v)", err)
	}
	if _, err := journal.Load(ctx, backend, "run-1"); err != nil {
		t.Error(err)
	}
}

func TestFindNamesWhatItCannotRead(t *testing.T) {
	backend, file := written(t)
	for i := range 3 {
		header := journal.Header{Schema: 1, Run: fmt.Sprintf("run-%d", i+2), Target: runbook.Target{ID: "lamp/2"}}
		if _, err := journal.Create(ctx, backend, journal.NoLease(1), now, header); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var broken []string
	found, err := journal.Find(ctx, backend, func(h *journal.History) bool { return h.Header.Target.ID == "lamp/2" },
		func(run string, _ error) { broken = append(broken, run) })
	if err != nil || len(found) != 3 || fmt.Sprint(broken) != "[run-1]" {
		t.Errorf("found %d, broken %v, %v", len(found), broken, err)
	}
}

// TestNamesThatLeadElsewhereAreNoRuns, whatever keeps the record: a name is part of a path.
func TestNamesThatLeadElsewhereAreNoRuns(t *testing.T) {
	for _, name := range []string{"", "..", "../run-1", "a/b", "run 1", strings.Repeat("a", 129)} {
		if _, err := journal.Load(ctx, journal.NewMemory(), name); err == nil ||
			!strings.Contains(err.Error(), "invalid run name") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
