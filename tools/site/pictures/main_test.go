package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPicturesAreWhatTheirSourcesSay keeps the committed pictures of docs/ from going stale.
func TestPicturesAreWhatTheirSourcesSay(t *testing.T) {
	if err := renderAll(t.Context(), []string{"../../../docs/pictures"}, true); err != nil {
		t.Error(err)
	}
}

func TestStalePictureIsNamed(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a.d2": "x -> y", "a.svg": "<svg/>"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := renderAll(t.Context(), []string{folder}, true)
	if err == nil || !strings.Contains(err.Error(), "a.svg is stale. hint: make pictures") {
		t.Errorf("got %v", err)
	}
}

func TestInvalidSourceIsAnErrorWithItsPlace(t *testing.T) {
	if _, err := render(t.Context(), "a: {"); err == nil || !strings.Contains(err.Error(), "1:") {
		t.Errorf("got %v", err)
	}
}
