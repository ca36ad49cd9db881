package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"salve/internal/report/replay"
	"salve/journal"
)

// ReplayedBelow makes every decision of every journal below a folder again, by the records alone, and says what does
// not come out equal to the byte. Keys are those that are found there too. A record that can't be read is an error,
// unless it may be damaged.
func ReplayedBelow(t testing.TB, folder string, damaged bool, more ...Provider) (problems []error) {
	ctx := context.WithoutCancel(t.Context())
	journals, keys, err := journalsBelow(folder)
	if err != nil {
		return []error{err}
	}
	a := &app{program: Options{Runbooks: append(BuiltIn(), more...)}}
	for _, root := range journals {
		runs, err := journal.NewFile(root).Runs(ctx)
		if err != nil {
			problems = append(problems, err)
		}
		for _, run := range runs {
			err := replayedRun(ctx, a, root, keys, run)
			var broken *journal.BrokenError
			if damaged && errors.As(err, &broken) {
				continue
			}
			problems = append(problems, err)
		}
	}
	return slices.DeleteFunc(problems, func(err error) bool { return err == nil })
}

// replayedRun replays a run with the first key that opens its record.
func replayedRun(ctx context.Context, a *app, root string, keys []string, run string) (err error) {
	for _, key := range keys {
		var record *journal.Record
		if record, err = journal.Load(ctx, journal.NewFileWithKey(root, key), run); err != nil {
			continue
		}
		if len(record.Entries) == 0 { // killed before it wrote what it is a run of
			return nil
		}
		book, err := a.replayedBook(record.History, record.Header.Inputs)
		if err != nil {
			return err
		}
		return replay.Verify(record.History, book)
	}
	return err
}

// journalsBelow are the folders with runs, and the key files.
func journalsBelow(folder string) (journals, keys []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == "journal.jsonl":
			journals = append(journals, filepath.Dir(filepath.Dir(filepath.Dir(path))))
		case strings.Contains(entry.Name(), "key") && entry.Type().IsRegular():
			keys = append(keys, path)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.Sort(journals)
	return slices.Compact(journals), keys, err
}

// replayed makes every decision of the bench's journal again when the test ends, unless it wrote records by hand.
func (b *bench) replayed() {
	b.t.Helper()
	if b.byHand {
		return
	}
	for _, problem := range ReplayedBelow(b.t, b.journal, false) {
		b.t.Error(problem)
	}
}

// TestReplayedBelowFindsWhatIsNotEqual: a record that can't be read, and one whose guards decide otherwise.
func TestReplayedBelowFindsWhatIsNotEqual(t *testing.T) {
	b := newBench(t, "healthy")
	b.types(exitDecided, b.onCluster("run", "aks-recreate-pool")...)
	if problems := ReplayedBelow(t, b.journal, false); len(problems) > 0 {
		t.Fatal(problems)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(b.journal)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(copied, "runs", b.runs()[0], "journal.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if problems := ReplayedBelow(t, copied, false); len(problems) != 1 {
		t.Errorf("a record that was cut: %v", problems)
	}
}
