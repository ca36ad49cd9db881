package gittree_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"salve/internal/prow/gittree"
)

func (r *repository) link(name, to string) {
	r.Helper()
	if err := os.Symlink(to, filepath.Join(r.folder, name)); err != nil {
		r.Fatal(err)
	}
}

// TestALinkIsTheFileThatItLeadsTo, inside of the revision alone. What can't be followed is named, and the rest is read.
func TestALinkIsTheFileThatItLeadsTo(t *testing.T) {
	r := newRepository(t)
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write("prow/a.yaml", "a\n")
	r.write("shared/b.yaml", "then\n")
	r.link("prow/link.yaml", "a.yaml")
	r.link("prow/other.yaml", "../shared/b.yaml")
	r.link("prow/again.yaml", "other.yaml")
	r.link("prow/through.yaml", "folder/b.yaml")
	r.link("prow/folder", "../shared")
	r.link("prow/nowhere.yaml", "gone.yaml")
	r.link("prow/circle.yaml", "circle.yaml")
	r.link("prow/absolute.yaml", outside)
	r.link("prow/escape.yaml", "../../../../../../../../etc/hostname")
	r.link("prow/file.yaml", "a.yaml/b.yaml")
	r.commit()
	r.write("shared/b.yaml", "now\n")
	tree, err := gittree.Read(t.Context(), r.folder, "HEAD", []string{"prow"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"prow/a.yaml": "a\n", "prow/link.yaml": "a\n", "prow/other.yaml": "then\n", "prow/again.yaml": "then\n",
		"prow/through.yaml": "then\n",
	} {
		if got, err := fs.ReadFile(tree, name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	var left []string
	for _, one := range tree.Left {
		left = append(left, one.String())
		if _, err := fs.Stat(tree, one.Path); err == nil {
			t.Errorf("%s is in the tree all the same", one.Path)
		}
	}
	slices.Sort(left)
	if want := []string{
		"prow/absolute.yaml is a symbolic link that leads out of the repository",
		"prow/circle.yaml is a symbolic link that leads in a circle",
		"prow/escape.yaml is a symbolic link that leads out of the repository",
		"prow/file.yaml is a symbolic link through something that is no folder",
		"prow/folder is a symbolic link to a folder, which is not followed",
		"prow/nowhere.yaml is a symbolic link that leads nowhere",
	}; !slices.Equal(left, want) {
		t.Errorf("left out: %q", left)
	}
}

func TestALinkWithALineBreakInItsNameIsLeftOut(t *testing.T) {
	r := newRepository(t)
	r.write("a.yaml", "a\n")
	r.link("li\nnk.yaml", "a.yaml")
	r.link("z.yaml", "a.yaml")
	r.commit()
	tree, err := gittree.Read(t.Context(), r.folder, "HEAD", []string{"."})
	if err != nil || len(tree.Left) != 1 || tree.Left[0].Path != "li\nnk.yaml" {
		t.Fatalf("%+v, %v", tree, err)
	}
	if got, err := fs.ReadFile(tree, "z.yaml"); err != nil || string(got) != "a\n" {
		t.Errorf("%q, %v", got, err)
	}
}
