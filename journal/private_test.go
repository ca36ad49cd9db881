package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

const podSpec = `{"args":["--password=hunter2"],"namespace":"onepassword"}`

// TestMaskingNeverChangesWhatAResumeNeeds: the record holds the masked form, and the
// value is kept whole apart from it.
func TestMaskingNeverChangesWhatAResumeNeeds(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	header := journal.Header{Run: "run-1", Runbook: "x", Target: runbook.Target{ID: "lamp/1"}, Inputs: []byte(podSpec)}
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Append(ctx, journal.Noted, "", journal.Note{Name: "pod", Value: []byte(podSpec)}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(store.Dir(), "runs", "run-1", "journal.jsonl"))
	if err != nil || strings.Contains(string(raw), "hunter2") || !strings.Contains(string(raw), "onepassword") {
		t.Fatalf("the record holds %s, %v", raw, err)
	}
	loaded, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if string(loaded.Header.Inputs) != podSpec {
		t.Errorf("inputs %s", loaded.Header.Inputs)
	}
	for name, recall := range map[string]func(into any) (bool, error){
		"from memory": func(into any) (bool, error) { return record.Recall("pod", into) },
		"loaded":      func(into any) (bool, error) { return loaded.Recall("pod", into) },
		"read back":   func(into any) (bool, error) { return loaded.ReadBack(ctx, "pod", into) },
	} {
		var pod struct{ Args []string }
		if found, err := recall(&pod); !found || err != nil || len(pod.Args) != 1 || pod.Args[0] != "--password=hunter2" {
			t.Errorf("%s: %v, %v", name, pod, err)
		}
	}
}

// TestPrivateValueIsVerified: one that was edited, or is gone, is an error and not
// its masked form.
func TestPrivateValueIsVerified(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"edited": func(path string) error { return os.WriteFile(path, []byte(`{"args":["--password=hunter3"]}`), 0o600) },
		"gone":   os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			store := journal.NewFile(t.TempDir())
			record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "x"})
			if err != nil {
				t.Fatal(err)
			}
			if err := record.Append(ctx, journal.Noted, "", journal.Note{Name: "pod", Value: []byte(podSpec)}); err != nil {
				t.Fatal(err)
			}
			kept, err := filepath.Glob(filepath.Join(store.Dir(), "runs", "run-1", "exports", "*"))
			if err != nil || len(kept) != 1 {
				t.Fatal(kept, err)
			}
			if err := spoil(kept[0]); err != nil {
				t.Fatal(err)
			}
			loaded, err := journal.Load(ctx, store, "run-1")
			if err != nil {
				t.Fatal(err)
			}
			var pod any
			if _, err := loaded.Recall("pod", &pod); err == nil {
				t.Errorf("recalled %v", pod)
			}
			if _, err := loaded.ReadBack(ctx, "pod", &pod); err == nil {
				t.Errorf("read back %v", pod)
			}
		})
	}
}

// TestExports: kept apart, by the newest digest, and never in the record.
func TestExports(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"one secret", "another secret", "another secret"} {
		if err := record.PutExport(ctx, "bundle", []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := loaded.ReadExport(ctx, "bundle"); err != nil || string(data) != "another secret" {
		t.Errorf("read %q, %v", data, err)
	}
	raw, err := os.ReadFile(filepath.Join(store.Dir(), "runs", "run-1", "journal.jsonl"))
	if err != nil || strings.Contains(string(raw), "secret") {
		t.Errorf("the record holds %s, %v", raw, err)
	}
	if err := record.PutExport(ctx, "../x", nil); apierr.ClassOf(err) != apierr.Terminal {
		t.Errorf("a path as a name: %v", err)
	}
	if err := record.PutExport(ctx, "big", make([]byte, journal.MaxExport+1)); apierr.ClassOf(err) != apierr.Terminal {
		t.Errorf("above the limit: %v", err)
	}
}

// TestPlantedFilesAreNotWrittenTo: whoever can write the journal's folder can't have
// another file written, truncated or locked.
func TestPlantedFilesAreNotWrittenTo(t *testing.T) {
	const content = "somebody's file\n"
	for name, plant := range map[string]func(dir, victim string) error{
		"a link in the record's place": func(dir, victim string) error {
			return replaceBy(os.Symlink, victim, dir, "runs/run-1/journal.jsonl")
		},
		"a second name for another file": func(dir, victim string) error {
			return replaceBy(os.Link, victim, dir, "runs/run-1/journal.jsonl")
		},
		"a link for the lease to come": func(dir, victim string) error {
			leases, err := filepath.Glob(filepath.Join(dir, "leases", "*.json"))
			if err != nil || len(leases) != 1 {
				return errors.New("no lease")
			}
			return os.Symlink(victim, leases[0]+".next")
		},
		"a link in the lock's place": func(dir, victim string) error {
			locks, err := filepath.Glob(filepath.Join(dir, "leases", "*.lock"))
			if err != nil || len(locks) != 1 {
				return errors.New("no lock")
			}
			return errors.Join(os.Remove(locks[0]), os.Symlink(victim, locks[0]))
		},
		"a link in the place of all runs": func(dir, victim string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "runs")),
				os.Symlink(filepath.Dir(victim), filepath.Join(dir, "runs")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, _ := underLease(t)
			victim := filepath.Join(t.TempDir(), "victim")
			if err := os.WriteFile(victim, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := plant(store.Dir(), victim); err != nil {
				t.Fatal(err)
			}
			lease, err := store.Lock(ctx, journal.Claim{Target: "lamp/1"})
			if err == nil {
				_ = lease.SetOpenRun(ctx, journal.OpenRun{Run: "run-1"})
				_ = lease.Release(ctx)
			}
			_ = store.Append(ctx, "run-1", 4, []byte("line\n"))
			_ = store.Create(ctx, "run-2")
			raw, err := os.ReadFile(victim)
			if err != nil || string(raw) != content {
				t.Errorf("it is now %q, %v", raw, err)
			}
			if beside, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(beside) != 1 {
				t.Errorf("beside it: %v, %v", beside, err)
			}
		})
	}
}

func replaceBy(link func(from, to string) error, victim, dir, name string) error {
	path := filepath.Join(dir, name)
	return errors.Join(os.Remove(path), link(victim, path))
}

// TestRecordsAreBounded: what is longer than any record is not read into memory.
func TestRecordsAreBounded(t *testing.T) {
	store, file := underLease(t)
	if err := os.Truncate(file, journal.MaxRecord+1); err != nil {
		t.Fatal(err)
	}
	var broken *journal.BrokenError
	if _, err := journal.Load(ctx, store, "run-1"); !errors.As(err, &broken) {
		t.Errorf("reading: %v", err)
	}
	if err := store.Append(ctx, "run-1", 1, []byte("x\n")); err == nil {
		t.Error("it was added to")
	}
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-2", Runbook: "x"})
	if err != nil {
		t.Fatal(err)
	}
	err = record.Append(ctx, journal.Warned, "", journal.Message{Text: strings.Repeat("x", journal.MaxLine)})
	if err == nil {
		t.Error("a line that nobody would read was written")
	}
}
