package journal_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/journal"
)

// TestForgedRecordIsNeverAdopted: a chain of hashes is anybody's to make.
func TestForgedRecordIsNeverAdopted(t *testing.T) {
	backend, file := written(t)
	rechained(t, file, func(lines []storedLine) []storedLine {
		lines[2].Entry.Data = []byte(`{"attempt":1,"inputs":{"delete":"everything"},"permit":"p1"}`)
		for i := range lines {
			lines[i].Seal = strings.Repeat("0", 64)
		}
		return lines
	})
	_, err := journal.Load(ctx, backend, "run-1")
	var broken *journal.BrokenError
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), "forged") || broken.Ours {
		t.Fatalf("got %v", err)
	}
	found, err := journal.FindOpen(ctx, backend, "lamp/1", nil)
	if err != nil || found.Record != nil || len(found.Unreadable) != 1 {
		t.Errorf("found %+v, %v: a forged record must be in nobody's way", found, err)
	}
}

// TestSealsAreChained: a sealed line of the same record is no other line's.
func TestSealsAreChained(t *testing.T) {
	backend, file := written(t)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var first, second map[string]json.RawMessage
	lines := bytes.SplitAfter(raw, []byte("\n"))
	if err := errors.Join(json.Unmarshal(lines[1], &first), json.Unmarshal(lines[2], &second)); err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, second["seal"], first["seal"], 1)
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var broken *journal.BrokenError
	if _, err := journal.Load(ctx, backend, "run-1"); !errors.As(err, &broken) || broken.Line != 3 || !broken.Ours {
		t.Errorf("got %v", err)
	}
}

// TestKeysAreToldApart: not sealed, sealed with another key, and forged are three
// things to do something about.
func TestKeysAreToldApart(t *testing.T) {
	backend, file := written(t)
	other := journal.NewFileWithKey(backend.Dir(), filepath.Join(t.TempDir(), "other"))
	var missing *journal.KeyError
	_, err := journal.Load(ctx, other, "run-1")
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "not found") {
		t.Errorf("without a key: %v", err)
	}
	if _, err := other.MakeKey(ctx, "lamp-off"); err != nil {
		t.Fatal(err)
	}
	var unsealed *journal.UnsealedError
	if _, err := journal.Load(ctx, other, "run-1"); !errors.As(err, &unsealed) || unsealed.Key == "" ||
		unsealed.Key == unsealed.Want {
		t.Errorf("with another key: %v", err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte(`"format":4`), []byte(`"format":5`), 1)
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Load(ctx, backend, "run-1"); !errors.As(err, &unsealed) || unsealed.Format != 5 {
		t.Errorf("of a later format: %v", err)
	}
}

// TestRecordOfANewerFormatIsNotCalledBroken: its lines may hold what nobody knows here. It stays for the version that
// wrote it, also where what is broken is deleted.
func TestRecordOfANewerFormatIsNotCalledBroken(t *testing.T) {
	backend, file := written(t)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte(`{"format":4`), []byte(`{"new":true,"format":5`), 1)
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var unsealed *journal.UnsealedError
	if _, err := journal.Load(ctx, backend, "run-1"); !errors.As(err, &unsealed) || unsealed.Format != 5 ||
		unsealed.Target != "lamp/1" || !strings.Contains(err.Error(), "use the version of salve that wrote it") {
		t.Errorf("%v", err)
	}
	if pruned, err := journal.Prune(ctx, backend, journal.Retention{Broken: true}); err != nil || len(pruned) > 0 {
		t.Errorf("deleted %v, %v", pruned, err)
	}
}

// TestRecordUnderAnotherNameIsNotBelieved: a copy of a run is not a run.
func TestRecordUnderAnotherNameIsNotBelieved(t *testing.T) {
	backend, _ := written(t)
	if err := os.CopyFS(filepath.Join(backend.Dir(), "runs", "run-2"),
		os.DirFS(filepath.Join(backend.Dir(), "runs", "run-1"))); err != nil {
		t.Fatal(err)
	}
	var broken *journal.BrokenError
	if _, err := journal.Load(ctx, backend, "run-2"); !errors.As(err, &broken) || broken.Line != 1 {
		t.Errorf("got %v", err)
	}
}

func TestKeyFileIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "journal.key")
	backend := journal.NewFileWithKey(t.TempDir(), path)
	made, err := backend.MakeKey(ctx, "any")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	for name, spoil := range map[string]func() error{
		"others may read it": func() error { return os.Chmod(path, 0o640) },
		"it is too short":    func() error { return os.WriteFile(path, []byte("abcd\n"), 0o600) },
		"it is a link": func() error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err := errors.Join(err, spoil()); err != nil {
				t.Fatal(err)
			}
			var refused *journal.KeyError
			if _, err := backend.Key(ctx, "any"); !errors.As(err, &refused) {
				t.Errorf("got %v", err)
			}
			if _, err := backend.MakeKey(ctx, "any"); err == nil {
				t.Error("it was made anew")
			}
			if err := errors.Join(os.Remove(path), os.WriteFile(path, raw, 0o600)); err != nil {
				t.Fatal(err)
			}
		})
	}
	again, err := backend.Key(ctx, "any")
	if err != nil || again.ID() != made.ID() {
		t.Errorf("%v, %v", again, err)
	}
}

// TestOneKeyIsMade: of many that make the key at once, all get the same.
func TestOneKeyIsMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	ids := make(chan string)
	for range 8 {
		go func() {
			key, err := journal.NewFileWithKey(t.TempDir(), path).MakeKey(ctx, "any")
			if err != nil {
				t.Error(err)
			}
			ids <- key.ID()
		}()
	}
	first := <-ids
	for range 7 {
		if id := <-ids; id != first {
			t.Errorf("keys %s and %s", first, id)
		}
	}
}

// TestKeyIsNeverPrinted: whatever the verb.
func TestKeyIsNeverPrinted(t *testing.T) {
	key, secret := journal.RandomKey()
	for _, text := range []string{sprint("%v", key), sprint("%+v", key), sprint("%#v", key),
		sprint("%x", key), sprint("%s", key)} {
		if strings.Contains(text, hex.EncodeToString(secret)) || !strings.Contains(text, key.ID()) {
			t.Errorf("it is %q", text)
		}
	}
}

func sprint(format string, value any) string { return fmt.Sprintf(format, value) }
