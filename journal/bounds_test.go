package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// lines is a store that gives other lines than were written.
type lines struct {
	journal.Store
	given [][]byte
	line  []byte
}

func (l *lines) Read(ctx context.Context, run string) ([][]byte, error) {
	if l.given == nil {
		return l.Store.Read(ctx, run)
	}
	return l.given, nil
}

func (l *lines) ReadLine(context.Context, string, int) ([]byte, error) { return l.line, nil }

// TestRecordFromElsewhereIsBounded: a store may give whatever it likes.
func TestRecordFromElsewhereIsBounded(t *testing.T) {
	for want, given := range map[string][][]byte{
		"the record is longer than any": make([][]byte, journal.MaxLines+1),
		"the line is longer than any":   {bytes.Repeat([]byte{'x'}, journal.MaxLine+1)},
		"not a journal line":            make([][]byte, journal.MaxLines),
	} {
		var broken *journal.BrokenError
		_, err := journal.Load(ctx, &lines{Store: journal.NewMemory(), given: given}, "run-1")
		if !errors.As(err, &broken) || !strings.Contains(broken.Reason, want) || broken.Ours {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestLongestLine: what is written can be read, and what is longer is not written.
func TestLongestLine(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "mend"})
	if err != nil {
		t.Fatal(err)
	}
	fits := journal.MaxLine - 1024
	if err := record.Append(ctx, journal.Warned, "", journal.Message{Text: strings.Repeat("x", fits)}); err != nil {
		t.Fatal(err)
	}
	err = record.Append(ctx, journal.Warned, "", journal.Message{Text: strings.Repeat("x", journal.MaxLine)})
	if err == nil || !strings.Contains(err.Error(), "above the limit") {
		t.Errorf("a line that is too long: %v", err)
	}
	// Nothing was written: the record is as good as before.
	if err := record.Append(ctx, journal.Warned, "", journal.Message{Text: "short"}); err != nil {
		t.Errorf("writing on: %v", err)
	}
	if read, err := journal.Load(ctx, store, "run-1"); err != nil || len(read.Entries) != 3 {
		t.Errorf("%+v, %v", read, err)
	}
}

// TestLineThatIsLongerThanAnyIsNotRead: also where one line is asked for.
func TestLineThatIsLongerThanAnyIsNotRead(t *testing.T) {
	backend, file := written(t)
	if err := os.WriteFile(file, append(bytes.Repeat([]byte{'x'}, journal.MaxLine+1), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	var broken *journal.BrokenError
	if _, err := journal.NewFile(backend.Dir()).ReadLine(ctx, "run-1", 1); !errors.As(err, &broken) || broken.Line != 1 {
		t.Errorf("got %v", err)
	}
}

// TestLinesAreReadWhereTheyAre: by a journal that wrote them, and by one that did not,
// also after the file became another.
func TestLinesAreReadWhereTheyAre(t *testing.T) {
	backend, file := written(t)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	for _, store := range []*journal.File{backend, journal.NewFile(backend.Dir())} {
		for i := range want {
			if line, err := store.ReadLine(ctx, "run-1", i+1); err != nil || string(line) != want[i] {
				t.Errorf("line %d: %.40q, %v", i+1, line, err)
			}
		}
		var broken *journal.BrokenError
		if _, err := store.ReadLine(ctx, "run-1", len(want)+1); !errors.As(err, &broken) || broken.Line != len(want)+1 {
			t.Errorf("a line that is not there: %v", err)
		}
	}
	// Another process adds a line, which this one has not seen.
	if err := journal.NewFile(backend.Dir()).Append(ctx, "run-1", 5, []byte("five\n")); err != nil {
		t.Fatal(err)
	}
	if err := backend.Append(ctx, "run-1", 6, []byte("six\n")); err != nil {
		t.Fatal(err)
	}
	for seq, want := range map[int]string{4: want[3], 5: "five", 6: "six"} {
		if line, err := backend.ReadLine(ctx, "run-1", seq); err != nil || string(line) != want {
			t.Errorf("line %d: %.40q, %v", seq, line, err)
		}
	}
	var missing *journal.MissingError
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.ReadLine(ctx, "run-1", 1); !errors.As(err, &missing) {
		t.Errorf("of a record that is gone: %v", err)
	}
}

// TestTornLineIsCutOff: however long it is, nothing of it is left behind what is
// written next.
func TestTornLineIsCutOff(t *testing.T) {
	for _, torn := range []int{1, 100, 64 << 10, 200 << 10} {
		backend, file := written(t)
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(bytes.Clone(before), bytes.Repeat([]byte{'x'}, torn)...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := backend.Append(ctx, "run-1", 5, []byte("five\n")); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != string(before)+"five\n" {
			t.Errorf("%d bytes were torn: %d bytes after %d, %v", torn, len(after), len(before), err)
		}
	}
}

// TestNamesOfRunsAndExportsAreNoPaths: for every call that takes one.
func TestNamesOfRunsAndExportsAreNoPaths(t *testing.T) {
	dir := t.TempDir()
	store := journal.NewFile(filepath.Join(dir, "journal"))
	if err := store.Create(ctx, "run-1"); err != nil {
		t.Fatal(err)
	}
	// What a name that is no run's could lead to, if it were taken for a path.
	planted := filepath.Join(store.Dir(), "exports")
	err := errors.Join(os.WriteFile(filepath.Join(dir, "victim"), []byte("x\n"), 0o600), os.Mkdir(planted, 0o700),
		os.WriteFile(filepath.Join(planted, "x"), []byte("x\n"), 0o600),
		os.WriteFile(filepath.Join(store.Dir(), "journal.jsonl"), []byte("x\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../x", "../../victim", "a/b", "/etc/passwd", ".hidden", "a\x00b",
		strings.Repeat("x", 129)} {
		var missing *journal.MissingError
		calls := map[string]error{
			"create": store.Create(ctx, name), "append": store.Append(ctx, name, 1, []byte("x\n")),
			"delete":     store.Delete(ctx, name),
			"put export": store.PutExport(ctx, name, "x", nil),
		}
		_, calls["read"] = store.Read(ctx, name)
		_, calls["read line"] = store.ReadLine(ctx, name, 1)
		_, calls["export"] = store.Export(ctx, name, "x")
		for call, err := range calls {
			if !errors.As(err, &missing) {
				t.Errorf("%s of run %q: %v", call, name, err)
			}
		}
		if _, err := store.Export(ctx, "run-1", name); err == nil || errors.As(err, &missing) {
			t.Errorf("export %q was looked for: %v", name, err)
		}
		if err := store.PutExport(ctx, "run-1", name, []byte("x")); apierr.ClassOf(err) != apierr.Terminal || err == nil {
			t.Errorf("export %q was kept: %v", name, err)
		}
	}
	for _, name := range []string{"run-2", "A", "0", "a.b_c-d", strings.Repeat("x", 128)} {
		if err := store.Create(ctx, name); err != nil {
			t.Errorf("run %q: %v", name, err)
		}
	}
}

// TestRunsAreListedByName: files, links and what has no run's name are none.
func TestRunsAreListedByName(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	for _, run := range []string{"run-3", "run-1", "run-2"} {
		if err := store.Create(ctx, run); err != nil {
			t.Fatal(err)
		}
	}
	runs := filepath.Join(store.Dir(), "runs")
	err := errors.Join(os.WriteFile(filepath.Join(runs, "run-4"), nil, 0o600),
		os.Symlink("run-1", filepath.Join(runs, "run-5")),
		os.Mkdir(filepath.Join(runs, ".deleted-run-6"), 0o700), os.Mkdir(filepath.Join(runs, "not a run"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.Runs(ctx); err != nil || fmt.Sprint(got) != "[run-1 run-2 run-3]" {
		t.Errorf("runs %v, %v", got, err)
	}
}

// TestDeletingGoesOnWhereItWasCutOff: what was taken out of the list before is removed
// with the next one.
func TestDeletingGoesOnWhereItWasCutOff(t *testing.T) {
	backend, _ := written(t)
	if _, err := backend.Read(ctx, "run-1"); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(backend.Dir(), "runs")
	if err := os.MkdirAll(filepath.Join(runs, ".deleted-run-0", "exports"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := backend.Delete(ctx, "run-1"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(runs); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	var missing *journal.MissingError
	if err := backend.Delete(ctx, "run-1"); !errors.As(err, &missing) {
		t.Errorf("a second time: %v", err)
	}
	// What was known of its lines is forgotten with it.
	if err := backend.Create(ctx, "run-1"); err != nil {
		t.Fatal(err)
	}
	if line, err := backend.ReadLine(ctx, "run-1", 1); err == nil {
		t.Errorf("the first line of an empty record is %q", line)
	}
}

// TestLinesOfARecordThatWasMadeAnew: another process deleted the one that is known here.
func TestLinesOfARecordThatWasMadeAnew(t *testing.T) {
	backend, _ := written(t)
	other := journal.NewFile(backend.Dir())
	err := errors.Join(other.Delete(ctx, "run-1"), other.Create(ctx, "run-1"),
		other.Append(ctx, "run-1", 1, []byte("one\n")),
		backend.Append(ctx, "run-1", 2, []byte("two\n")))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"one", "two"} {
		if line, err := backend.ReadLine(ctx, "run-1", i+1); err != nil || string(line) != want {
			t.Errorf("line %d is %q, %v", i+1, line, err)
		}
	}
}

// batching counts the writes that cost.
type batching struct {
	*journal.File
	single, batches int
}

func (b *batching) Append(ctx context.Context, run string, seq int, line []byte) error {
	b.single++
	return b.File.Append(ctx, run, seq, line)
}

func (b *batching) AppendLines(ctx context.Context, run string, seq int, lines [][]byte) error {
	b.batches++
	return b.File.AppendLines(ctx, run, seq, lines)
}

// TestSeveralEntriesCostOneWrite: also through a location.
func TestSeveralEntriesCostOneWrite(t *testing.T) {
	counted := &batching{File: journal.NewFile(t.TempDir())}
	at := journal.LocationOf(counted, "here")
	record, err := journal.Create(ctx, at, journal.NoLease(1), now,
		journal.Header{Run: "run-1", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}})
	if err != nil {
		t.Fatal(err)
	}
	one := journal.Pending{Kind: journal.Warned, Data: journal.Message{Text: "x"}}
	if err := record.AppendAll(ctx, one, one, one); err != nil {
		t.Fatal(err)
	}
	if counted.single != 1 || counted.batches != 1 || at.Where != "here" {
		t.Errorf("%d lines and %d batches were written", counted.single, counted.batches)
	}
}

// TestLocationNamesFolderAndHost: the same folder of another machine is another place.
func TestLocationNamesFolderAndHost(t *testing.T) {
	t.Chdir(t.TempDir())
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := journal.NewFile("state").Location(),
		"folder "+filepath.Join(here, "state")+" on host "+host; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
