package cleanup

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// exports is a run of which nothing but its exports is asked. It takes what a journal takes.
type exports struct {
	runbook.Run
	kept map[string][]byte
}

func (e exports) Export(_ context.Context, name string, data []byte) error {
	if len(data) > journal.MaxExport {
		return apierr.New(apierr.Terminal, "export %q of %d bytes", name, len(data))
	}
	e.kept[name] = data
	return nil
}

func (e exports) ReadExport(_ context.Context, name string) ([]byte, error) {
	data, found := e.kept[name]
	if !found {
		return nil, apierr.New(apierr.Missing, "not found: export %q", name)
	}
	return data, nil
}

// TestLargeBundleIsExportedInPieces, each as large as a run takes.
func TestLargeBundleIsExportedInPieces(t *testing.T) {
	whole := bytes.Repeat([]byte("0123456789abcde"), mostExported/15) // no piece begins as another does
	for size, pieces := range map[int]int{1: 1, journal.MaxExport: 1, journal.MaxExport + 1: 2, len(whole): 2} {
		run := exports{kept: map[string][]byte{}}
		if err := export(t.Context(), run, whole[:size]); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		content, err := readExport(t.Context(), run, int64(size))
		if err != nil || len(run.kept) != pieces || !bytes.Equal(content, whole[:size]) {
			t.Errorf("%d bytes: %d pieces, read back %d bytes: %v", size, len(run.kept), len(content), err)
		}
		run.kept["bundle-0"] = run.kept["bundle-0"][1:]
		if _, err := readExport(t.Context(), run, int64(size)); err == nil {
			t.Errorf("%d bytes: one is missing, and nobody noticed", size)
		}
	}
}

// TestBundleThatDoesNotFitNeedsAFile, and says so.
func TestBundleThatDoesNotFitNeedsAFile(t *testing.T) {
	some := make([]byte, 1<<20)
	fill := func(to *store) (err error) {
		for range mostExported/len(some) + 1 {
			if _, err = to.Write(some); err != nil {
				break
			}
		}
		return err
	}
	exported, err := openStore("", "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(exported); apierr.ClassOf(err) != apierr.Terminal || !strings.Contains(err.Error(), "64 MiB") ||
		!strings.Contains(err.Error(), "--bundle") {
		t.Errorf("more than fits: %v", err)
	}
	file, err := openStore(t.TempDir()+"/bundle.json.gz", "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(file); err != nil {
		t.Error(err)
	}
	if err := file.discard(); err != nil {
		t.Error(err)
	}
}
