//go:build unix

package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
	if _, err := pipeline.ReadWithin(path, time.Millisecond); err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("with a writer who says nothing: %v", err)
	}
}

// TestPipesAreRead: what a command writes to a shell's <(…) is read.
func TestPipesAreRead(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := writer.WriteString("a: b\n"); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := pipeline.ReadContent(fmt.Sprintf("/dev/fd/%d", reader.Fd()))
	if err != nil || string(content) != "a: b\n" {
		t.Errorf("%q, %v", content, err)
	}
}
