//go:build unix

package results_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"salve/internal/triage/results"
)

// TestPathsThatAreNoPlainFiles: a link that is named is followed, links and pipes inside are counted.
func TestPathsThatAreNoPlainFiles(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := os.Mkdir(in("real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("real/a.xml"), []byte(junitDoc), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"linked": in("real"), "linked.xml": in("real/a.xml"), "real/up": folder} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(in("real/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"linked":     "j of ./linked/a.xml|./linked: 2 symbolic links, pipes or devices inside are not read",
		"linked.xml": "j of ./linked.xml",
		"real/pipe":  "./real/pipe: not a regular file; use - for standard input",
	} {
		var got []string
		reader := results.Reader{Note: func(n results.Note) { got = append(got, n.Place.String()+": "+n.Text) }}
		for one, err := range reader.Cases(t.Context(), in(path)) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, one.Name+" of "+one.Origin.File)
		}
		if said := strings.ReplaceAll(strings.Join(got, "|"), folder, "."); said != want {
			t.Errorf("%s: %s", path, said)
		}
	}
}

func TestProcessSubstitutionIsRead(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	_, _ = write.WriteString(junitDoc)
	_ = write.Close()
	path := fmt.Sprintf("/dev/fd/%d", read.Fd())
	for one, err := range (results.Reader{}).Cases(t.Context(), path) {
		if err != nil || one.Name != "j" {
			t.Errorf("%+v, %v", one, err)
		}
	}
}
