package change_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/change"
)

type repository struct {
	*testing.T
	folder string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	r := &repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repository) git(arguments ...string) {
	r.Helper()
	command := exec.Command("git", append([]string{"-C", r.folder, "-c", "user.name=a", "-c", "user.email=a@example.com"},
		arguments...)...)
	if out, err := command.CombinedOutput(); err != nil {
		r.Fatalf("git %v: %v: %s", arguments, err, out)
	}
}

func (r *repository) commit(name, text string) {
	r.Helper()
	path := filepath.Join(r.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.Fatal(err)
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "any")
}

// forked has a branch of two commits, and a commit on main that the branch lacks.
func forked(t *testing.T) *repository {
	t.Helper()
	r := newRepository(t)
	r.commit("pkg/node.go", strings.Repeat("line\n", 20))
	r.commit("logo.png", "\x00\x01")
	r.git("checkout", "-q", "-b", "work")
	r.commit("pkg/näme.go", "new\n")
	r.git("mv", "pkg/node.go", "pkg/moved.go")
	r.commit("logo.png", "\x00\x02")
	r.git("checkout", "-q", "main")
	r.commit("others.go", "of main\n")
	r.git("checkout", "-q", "work")
	return r
}

func TestSinceIsWhatTheBranchDidAlone(t *testing.T) {
	r := forked(t)
	for name, text := range map[string]string{"build.log": "not tracked\n", "pkg/näme.go": "new\nand not committed\n"} {
		if err := os.WriteFile(filepath.Join(r.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Nothing of a repository's configuration may be started, or change what is read.
	r.git("config", "diff.external", "false")
	r.git("config", "diff.noprefix", "true")
	r.git("config", "diff.relative", "true")
	r.git("config", "color.ui", "always")
	got, err := change.Since(t.Context(), filepath.Join(r.folder, "pkg"), "main")
	if err != nil {
		t.Fatal(err)
	}
	want := []change.File{
		{Path: "logo.png", Status: change.Modified, Binary: true},
		{Path: "pkg/moved.go", OldPath: "pkg/node.go", Status: change.Renamed},
		{Path: "pkg/näme.go", Status: change.Added, Added: 2},
	}
	if different := cmp.Diff(want, got.Files); different != "" || got.Source != "git diff --merge-base main" {
		t.Errorf("%s: %s", got.Source, different)
	}
}

func TestSinceWithoutADifferenceIsAnEmptyChange(t *testing.T) {
	r := forked(t)
	if got, err := change.Since(t.Context(), r.folder, "work"); err != nil || len(got.Files) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestSinceRefusesWhatIsNoCommit(t *testing.T) {
	r := forked(t)
	r.git("checkout", "-q", "--orphan", "alone")
	r.commit("a", "a")
	for ref, reason := range map[string]string{
		"": "not a commit", "--output=x": "not a commit", "-p": "not a commit", "none": "git fetch origin none",
		"main": "--unshallow",
	} {
		got, err := change.Since(t.Context(), r.folder, ref)
		var wrong *change.RefError
		if got != nil || !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, reason) {
			t.Errorf("%q: %v, %v", ref, got, err)
		}
	}
	if _, err := change.Since(t.Context(), t.TempDir(), "main"); err == nil {
		t.Error("a folder without a repository has a change")
	}
}
