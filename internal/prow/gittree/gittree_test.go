package gittree_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"salve/internal/prow/gittree"
)

type repository struct {
	*testing.T
	folder string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := &repository{T: t, folder: t.TempDir()}
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

func (r *repository) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.Fatal(err)
	}
}

func (r *repository) commit() {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "any")
}

func TestARevisionIsReadAsItWas(t *testing.T) {
	r := newRepository(t)
	r.write("config/prow/config.yaml", "one\n")
	r.write("config/jobs/a b/ü.yaml", "no newline at the end")
	r.write("config/jobs/empty.yaml", "")
	r.write("other/secret.yaml", "not asked for")
	r.commit()
	r.write("config/prow/config.yaml", "two\n")
	r.write("config/jobs/new.yaml", "new")
	tree, err := gittree.Read(t.Context(), r.folder, "HEAD", []string{"config/prow/config.yaml", "config/jobs", "gone"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"config/prow/config.yaml": "one\n", "config/jobs/a b/ü.yaml": "no newline at the end", "config/jobs/empty.yaml": "",
	} {
		if got, err := fs.ReadFile(tree, name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"config/jobs/new.yaml", "other/secret.yaml", "gone"} {
		if _, err := fs.Stat(tree, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	found := 0
	err = fs.WalkDir(tree, "config/jobs", func(_ string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() {
			found++
		}
		return err
	})
	if err != nil || found != 2 || len(tree.Commit) != 40 {
		t.Errorf("%d files, %v, commit %q", found, err, tree.Commit)
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	r := newRepository(t)
	r.write("config.yaml", "one\n")
	r.commit()
	var unknown *gittree.RefError
	for _, ref := range []string{"nobody", "--output=x", "HEAD:config.yaml", ""} {
		if _, err := gittree.Read(t.Context(), r.folder, ref, []string{"config.yaml"}); !errors.As(err, &unknown) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if _, err := gittree.Root(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder outside of any repository has a root")
	}
}
