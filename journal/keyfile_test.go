package journal_test

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
)

// TestKeyFileThatIsRefusedSaysWhy: and what to do, and it is never made anew.
func TestKeyFileThatIsRefusedSaysWhy(t *testing.T) {
	for want, spoil := range map[string]func(path string) error{
		"mode 0640 lets others": func(path string) error { return os.Chmod(path, 0o640) },
		"mode 0604 lets others": func(path string) error { return os.Chmod(path, 0o604) },
		"mode 0610 lets others": func(path string) error { return os.Chmod(path, 0o610) },
		"4 bytes, want 32":      func(path string) error { return os.WriteFile(path, []byte("abcdabcd\n"), 0o600) },
		"invalid byte": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("xy", 32)), 0o600)
		},
		"above the limit":  func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("ab", 33)), 0o600) },
		"0 bytes, want 32": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"not a regular file, but a symbolic link. hint: find out": func(path string) error {
			return errors.Join(os.Rename(path, path+".x"), os.Symlink(path+".x", path))
		},
		"not a regular file, but a folder. hint: find out": func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		},
		"not a regular file, but a named pipe. hint: find out": func(path string) error {
			return errors.Join(os.Remove(path), journal.MakePipe(path))
		},
	} {
		path := filepath.Join(t.TempDir(), "journal.key")
		store := journal.NewFileWithKey(t.TempDir(), path)
		if _, err := store.MakeKey(ctx, "mend"); err != nil {
			t.Fatal(err)
		}
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		for call, ask := range map[string]func() (journal.Key, error){
			"read": func() (journal.Key, error) { return store.Key(ctx, "mend") },
			"made": func() (journal.Key, error) { return store.MakeKey(ctx, "mend") },
		} {
			var refused *journal.KeyError
			_, err := ask()
			if !errors.As(err, &refused) || refused.Where != path || refused.Runbook != "mend" ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s, want %q: %v", call, want, err)
			}
			if strings.Contains(err.Error(), "chmod 600") != strings.Contains(want, "lets others") {
				t.Errorf("%s: chmod mends the mode alone: %v", call, err)
			}
		}
	}
}

// TestKeyFileOfAnotherUserIsRefused: whoever made it knows the key.
func TestKeyFileOfAnotherUserIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.key")
	store := journal.NewFileWithKey(t.TempDir(), path)
	if _, err := store.MakeKey(ctx, "mend"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Skip("it takes root to give a file away:", err)
	}
	if _, err := store.Key(ctx, "mend"); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Errorf("got %v", err)
	}
}

// TestMissingKeyFileNamesTheVariable: a record without its key is not forged, but can't
// be told from one that is.
func TestMissingKeyFileNamesTheVariable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "journal.key")
	_, err := journal.NewFileWithKey(t.TempDir(), path).Key(ctx, "mend")
	want := `journal key of runbook "mend" in ` + path + ": not found. hint: set SALVE_JOURNAL_KEY_FILE to the key file that the journal was written with"
	if apierr.ClassOf(err) != apierr.Missing || err.Error() != want {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = journal.NewFileWithKey(t.TempDir(), filepath.Join(file, "journal.key")).MakeKey(ctx, "mend")
	var refused *journal.KeyError
	if !errors.As(err, &refused) {
		t.Errorf("made in a file: %v", err)
	}
	bare := &journal.KeyError{Runbook: "mend", Where: "here", Err: errors.New("forbidden")}
	if got := bare.Error(); got != `journal key of runbook "mend" in here: forbidden` {
		t.Errorf("without a hint: %s", got)
	}
}

// TestKeyFileIsHexadecimal: with or without a line feed, so that it can be made by hand.
func TestKeyFileIsHexadecimal(t *testing.T) {
	want, err := journal.NewKey(make([]byte, journal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "\n"} {
		path := filepath.Join(t.TempDir(), "journal.key")
		if err := os.WriteFile(path, []byte(hex.EncodeToString(make([]byte, journal.KeySize))+end), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := journal.NewFileWithKey(t.TempDir(), path).MakeKey(ctx, "mend")
		if err != nil || key.ID() != want.ID() {
			t.Errorf("ending in %q: %v, %v", end, key, err)
		}
	}
}

// TestKeysOfOtherLengthsAreRefused: so is the zero value, which seals nothing.
func TestKeysOfOtherLengthsAreRefused(t *testing.T) {
	for _, length := range []int{0, journal.KeySize - 1, journal.KeySize + 1} {
		if _, err := journal.NewKey(make([]byte, length)); apierr.ClassOf(err) != apierr.Terminal || err == nil {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
	secret := make([]byte, journal.KeySize)
	key, err := journal.NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	before := key.ID()
	secret[0] = 1
	if key.ID() != before {
		t.Error("the key changes with the bytes that it was made of")
	}
}
