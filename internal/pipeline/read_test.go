//go:build unix

package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"salve/internal/pipeline"
)

// TestPipesAreNotWaitedFor: a file that is a pipe does not make a command hang.
func TestPipesAreNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.ReadContent(path); err == nil || !strings.Contains(err.Error(), "nobody writes to") {
		t.Errorf("without a writer: %v", err)
	}
	silent, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, err := pipeline.ReadContent(path); err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("with a writer who says nothing: %v", err)
	}
}

// TestPipesAreRead: what a command writes to a shell's <(…) is read.
func TestPipesAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("a: b\n"); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer writer.Close()
		reader, err := os.OpenFile(path, os.O_WRONLY, 0) // opens once there is a reader
		if err == nil {
			reader.Close()
		}
	}()
	if content, err := pipeline.ReadContent(path); err != nil || string(content) != "a: b\n" {
		t.Errorf("%q, %v", content, err)
	}
}
