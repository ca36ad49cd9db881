package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
)

// TestPlantedFilesSayWhatToRemove: what blocks a target that nobody holds is named, and gone when it was removed.
func TestPlantedFilesSayWhatToRemove(t *testing.T) {
	kinds := map[string]func(path string) error{
		"named pipe":    func(path string) error { return journal.MakePipe(path) },
		"symbolic link": func(path string) error { return os.Symlink("elsewhere", path) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
	}
	for kind, plant := range kinds {
		for _, end := range []string{".json", ".json.lock", ".json.head"} {
			dir := t.TempDir()
			store := journal.NewFile(dir)
			leave(t, store, "run-1", "lamp/1", true)
			found, err := filepath.Glob(filepath.Join(dir, "leases", "*"+end))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s: %v, %v", end, found, err)
			}
			if err := os.Remove(found[0]); err != nil {
				t.Fatal(err)
			}
			if err := plant(found[0]); err != nil {
				t.Fatal(err)
			}
			_, err = store.Lock(ctx, journal.Claim{Target: "lamp/1"})
			want := "not a regular file, but a " + kind + ". hint: look at " + found[0] +
				"; make sure that no run is at work, then remove it"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s as %s: %v", end, kind, err)
			}
			if err := os.Remove(found[0]); err != nil {
				t.Fatal(err)
			}
			if lease, err := store.Lock(ctx, journal.Claim{Target: "lamp/1"}); err != nil {
				t.Errorf("%s, removed: %v", end, err)
			} else if err := lease.Release(ctx); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestLastEpochIsRefusedBeforeWriting: a lease that was edited to the last epoch stays as it is, and is named.
func TestLastEpochIsRefusedBeforeWriting(t *testing.T) {
	dir := t.TempDir()
	store := journal.NewFile(dir)
	leave(t, store, "run-1", "lamp/1", true)
	found, err := filepath.Glob(filepath.Join(dir, "leases", "*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	edited := `{"target":"lamp/1","epoch":2147483647}`
	if err := os.WriteFile(found[0], []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = store.Lock(ctx, journal.Claim{Target: "lamp/1"})
	want := "lease file " + found[0] + " was edited. hint: make sure that no run is at work, then remove it"
	if apierr.ClassOf(err) != apierr.Terminal || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if raw, err := os.ReadFile(found[0]); err != nil || string(raw) != edited {
		t.Errorf("the file is now %s, %v", raw, err)
	}
	if peeked, err := store.Peek(ctx, "lamp/1"); err != nil || peeked.Epoch != 2147483647 {
		t.Errorf("%+v, %v", peeked, err)
	}
}
