package simulation_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/simulation"
)

// TestASeedAlwaysGivesTheSameRun, file by file.
func TestASeedAlwaysGivesTheSameRun(t *testing.T) {
	for i, kind := range []simulation.Kind{simulation.TwoCauses, simulation.Innocent, simulation.Aborted} {
		var sums [2]string
		var truths [2]simulation.Truth
		for j := range sums {
			folder := t.TempDir()
			w, err := simulation.Generate(folder, uint64(40+i), kind)
			if err != nil {
				t.Fatal(err)
			}
			truths[j], sums[j] = w.Truth, sum(t, os.DirFS(folder))+fmt.Sprint(w.Others)
		}
		if sums[0] != sums[1] {
			t.Errorf("%s: two runs of one seed differ", kind)
		}
		if diff := cmp.Diff(truths[0], truths[1]); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

func sum(t *testing.T, folder fs.FS) string {
	t.Helper()
	hash := sha256.New()
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		fmt.Fprintf(hash, "%s %d\n%s", path, len(content), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}
