package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// storedLine is a line as it is kept, for somebody who can write files and has no key.
type storedLine struct {
	Format int           `json:"format,omitempty"`
	Key    string        `json:"key,omitempty"`
	Sum    string        `json:"sum"`
	Seal   string        `json:"seal,omitempty"`
	Entry  journal.Entry `json:"entry"`
}

// rechained edits the lines of a record and makes its chain of hashes whole again, as
// anybody can. A predecessor that is no hash stays as it is.
func rechained(t *testing.T, file string, edit func(lines []storedLine) []storedLine) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []storedLine
	for line := range bytes.Lines(raw) {
		var one storedLine
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, one)
	}
	var out []byte
	prev := ""
	for _, one := range edit(lines) {
		if len(one.Entry.Prev) == 2*sha256.Size {
			one.Entry.Prev = prev
		}
		body, err := json.Marshal(one.Entry)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(body)
		prev = hex.EncodeToString(sum[:])
		one.Sum = prev
		line, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, line...), '\n')
	}
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSealCoversEveryField: of an entry, and of the line around it. Whoever has no key
// can change none of them, though the chain of hashes is theirs to make.
func TestSealCoversEveryField(t *testing.T) {
	edits := map[string]func(*journal.Entry){
		"Seq":   func(e *journal.Entry) { e.Seq++ },
		"At":    func(e *journal.Entry) { e.At = e.At.AddDate(0, 0, 1) },
		"Kind":  func(e *journal.Entry) { e.Kind = journal.Warned },
		"Epoch": func(e *journal.Entry) { e.Epoch++ },
		"Step":  func(e *journal.Entry) { e.Step = "b" },
		"Data":  func(e *journal.Entry) { e.Data = []byte(`{"attempt":2,"permit":"p1"}`) },
		"Prev":  func(e *journal.Entry) { e.Prev = "00" },
	}
	fields := reflect.TypeFor[journal.Entry]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		t.Run(name, func(t *testing.T) {
			backend, file := written(t)
			rechained(t, file, func(lines []storedLine) []storedLine { return lines })
			if _, err := journal.Load(ctx, backend, "run-1"); err != nil {
				t.Fatalf("with nothing edited: %v", err)
			}
			rechained(t, file, func(l []storedLine) []storedLine { edits[name](&l[2].Entry); return l })
			var broken *journal.BrokenError
			if _, err := journal.Load(ctx, backend, "run-1"); !errors.As(err, &broken) || broken.Line != 3 {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, edit := range map[string]func([]storedLine) []storedLine{
		"a line taken out": func(l []storedLine) []storedLine {
			l[2].Entry.Seq, l[3].Entry.Seq = 2, 3
			return append(l[:1], l[2:]...)
		},
		"a line put in": func(l []storedLine) []storedLine {
			more := storedLine{Seal: l[2].Seal, Entry: l[2].Entry}
			more.Entry.Seq, l[3].Entry.Seq = 4, 5
			return []storedLine{l[0], l[1], l[2], more, l[3]}
		},
		"a seal taken off":      func(l []storedLine) []storedLine { l[2].Seal = ""; return l },
		"a seal of another one": func(l []storedLine) []storedLine { l[2].Seal = l[1].Seal; return l },
	} {
		backend, file := written(t)
		rechained(t, file, edit)
		var broken *journal.BrokenError
		_, err := journal.Load(ctx, backend, "run-1")
		if !errors.As(err, &broken) || broken.Line < 2 || !strings.Contains(broken.Reason, "forged") || !broken.Ours {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFormatAndKeyAreNotForOthersToSay: a first line that names another format or key
// is a record that is not believed.
func TestFormatAndKeyAreNotForOthersToSay(t *testing.T) {
	for name, edit := range map[string]func(first *storedLine){
		"format 1":       func(l *storedLine) { l.Format = 1 },
		"a later format": func(l *storedLine) { l.Format = journal.Format + 1 },
		"no format":      func(l *storedLine) { l.Format = 0 },
		"no key":         func(l *storedLine) { l.Key = "" },
		"another key":    func(l *storedLine) { l.Key = "00" },
	} {
		backend, file := written(t)
		rechained(t, file, func(l []storedLine) []storedLine { edit(&l[0]); return l })
		var unsealed *journal.UnsealedError
		if _, err := journal.Load(ctx, backend, "run-1"); !errors.As(err, &unsealed) || unsealed.Target != "lamp/1" ||
			!strings.Contains(err.Error(), "hint:") {
			t.Errorf("%s: %v", name, err)
		}
		if found, err := journal.FindOpen(ctx, backend, "lamp/1", nil); err != nil || found.Record != nil ||
			len(found.Unreadable) != 1 {
			t.Errorf("%s: found %+v, %v", name, found, err)
		}
	}
}

// TestHeadSealCoversEveryField: a lease that somebody edited vouches for nothing.
func TestHeadSealCoversEveryField(t *testing.T) {
	store, _ := underLease(t)
	lease := locked(t, store)
	record, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	genuine := *lease.OpenRun()
	fields := reflect.TypeFor[journal.OpenRun]()
	for i := range fields.NumField() {
		edited := genuine
		switch field := reflect.ValueOf(&edited).Elem().Field(i); field.Kind() {
		case reflect.String:
			field.SetString(field.String() + "0")
		case reflect.Int, reflect.Int64:
			field.SetInt(field.Int() - 1)
		case reflect.Bool:
			field.SetBool(!field.Bool())
		default:
			t.Fatalf("no edit for the field %s", fields.Field(i).Name)
		}
		if err := lease.SetOpenRun(ctx, edited); err != nil {
			t.Fatal(err)
		}
		var headless *journal.HeadError
		if err := record.Reopen(lease, now); !errors.As(err, &headless) || headless.Run != "run-1" ||
			headless.Target != "lamp/1" {
			t.Errorf("%s: it is resumed: %v", fields.Field(i).Name, err)
		}
	}
	if err := lease.SetOpenRun(ctx, genuine); err != nil {
		t.Fatal(err)
	}
	if err := record.Reopen(lease, now); err != nil {
		t.Errorf("what was written: %v", err)
	}
}

// TestHeadIsTheRecordsNewestLine: with each entry, and closed with the last one.
func TestHeadIsTheRecordsNewestLine(t *testing.T) {
	store := journal.NewMemory()
	lease := locked(t, store)
	record, err := journal.Create(ctx, store, lease, now,
		journal.Header{Run: "run-1", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for n, kind := range []journal.Kind{"", journal.Warned, journal.Parked, journal.Closed} {
		if kind != "" {
			if err := record.Append(ctx, kind, "", journal.Verdict{}); err != nil {
				t.Fatal(err)
			}
		}
		head := *lease.OpenRun()
		key, err := store.Key(ctx, "mend")
		if err != nil {
			t.Fatal(err)
		}
		want := journal.OpenRun{
			Target: "lamp/1", Run: "run-1", Runbook: "mend", Location: "memory", Key: key.ID(), Epoch: lease.Epoch(), Seq: n + 1,
			Sum: head.Sum, Closed: kind == journal.Closed, Boot: head.Boot, Seal: head.Seal,
		}
		if head != want || seen[head.Sum] || seen[head.Seal] {
			t.Errorf("after %q the head is %+v, want %+v", kind, head, want)
		}
		seen[head.Sum], seen[head.Seal] = true, true
	}
}

// TestBrokenIsOursOnlyUnderOurSeal: a broken record that anybody can have put there
// is in nobody's way.
func TestBrokenIsOursOnlyUnderOurSeal(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(t *testing.T, backend *journal.File, file string)
		ours  bool
	}{
		"a cut in the middle of ours": {func(t *testing.T, _ *journal.File, file string) {
			spoilLine(t, file, 1, `"note"`, `"nope"`)
		}, true},
		"a header of others": {func(t *testing.T, _ *journal.File, file string) {
			rechained(t, file, func(l []storedLine) []storedLine { l[0].Seal = "00"; return l })
			spoilLine(t, file, 1, `"note"`, `"nope"`)
		}, false},
		"no first line": {func(t *testing.T, _ *journal.File, file string) { spoilLine(t, file, 0, `"opened"`, `"open"`) }, false},
		"no key in the header": {func(t *testing.T, _ *journal.File, file string) {
			rechained(t, file, func(l []storedLine) []storedLine { l[0].Key = ""; return l })
			spoilLine(t, file, 1, `"note"`, `"nope"`)
		}, false},
		"no key here": {func(t *testing.T, backend *journal.File, file string) {
			spoilLine(t, file, 1, `"note"`, `"nope"`)
			if err := os.Remove(filepath.Join(backend.Dir(), "key")); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			backend, file := written(t)
			row.spoil(t, backend, file)
			var broken *journal.BrokenError
			if _, err := journal.Load(ctx, backend, "run-1"); !errors.As(err, &broken) || broken.Ours != row.ours {
				t.Fatalf("got %v", err)
			}
			_, err := journal.FindOpen(ctx, backend, "lamp/1", nil)
			if inTheWay := errors.As(err, &broken); inTheWay != row.ours {
				t.Errorf("looking for an open run: %v", err)
			}
			if _, err := journal.FindOpen(ctx, backend, "lamp/2", nil); err != nil {
				t.Errorf("it is in the way of another target: %v", err)
			}
		})
	}
}

// spoilLine changes a line, and leaves its hash as it is.
func spoilLine(t *testing.T, file string, line int, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	lines[line] = strings.Replace(lines[line], from, to, 1)
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}
