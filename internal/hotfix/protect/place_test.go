//go:build linux

package protect_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"salve/internal/hotfix/protect"
)

// node is a folder with the files of a node, and what is protected of them.
type node struct{ folder string }

func (n node) at(path string) string { return filepath.Join(n.folder, path) }

func newNode(t *testing.T) node {
	t.Helper()
	n := node{t.TempDir()}
	for path, content := range map[string]string{
		"opt/node": "baked", "opt/node-hotfix": "staged", "opt/node-hotfix.manifest": "{}",
		"opt/node-hotfix.bad/0123": "", "opt/node-hotfix.json": "{}", "opt/salve-node": "salve-node itself",
		"var/state/events/1.json": "{}", "var/state/scripts/applied.json": "{}", "var/state/trust/root.json": "{}",
		"opt/script.sh": "echo", "etc/unit.service": "[Service]",
	} {
		n.write(t, path, content)
	}
	return n
}

func (n node) write(t *testing.T, path, content string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(n.at(path)), 0o755))
	check(t, os.WriteFile(n.at(path), []byte(content), 0o755))
}

func (n node) places() []protect.Place {
	return []protect.Place{
		{Path: n.at("opt/node")}, {Path: n.at("opt/node-hotfix"), Kind: protect.Family},
		{Path: n.at("opt/node-hotfix.json"), Kind: protect.Family}, {Path: n.at("var/state"), Kind: protect.Tree},
		{Path: n.at("opt/salve-node"), Kind: protect.Copies}, {Path: n.at("etc/salve/root.json"), Kind: protect.Family},
		{},
	}
}

func (n node) refuses(t *testing.T, path string) error {
	t.Helper()
	m, err := protect.Survey(n.places())
	check(t, err)
	err = m.Check(n.at(path))
	var refused *protect.Error
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("%s can't be looked at: %v", path, err)
	}
	return err
}

func TestPlacesAreRefused(t *testing.T) {
	for title, row := range map[string]struct {
		prepare func(t *testing.T, n node)
		path    string
	}{
		"the file itself":                      {path: "opt/node"},
		"the staged program":                   {path: "opt/node-hotfix"},
		"its manifest":                         {path: "opt/node-hotfix.manifest"},
		"its lock, which isn't there":          {path: "opt/node-hotfix.lock"},
		"its trial, which isn't there":         {path: "opt/node-hotfix.trial"},
		"a mark of it":                         {path: "opt/node-hotfix.bad/4567"},
		"what is written of it first":          {path: "opt/.node-hotfix.part"},
		"what was brought for it":              {path: "opt/.node-hotfix.scratch/fetched"},
		"the pointer":                          {path: "opt/node-hotfix.json"},
		"the pointer's lock":                   {path: "opt/node-hotfix.json.lock"},
		"the pointer while it is rewritten":    {path: "opt/.node-hotfix.json.123"},
		"the folder of the state":              {path: "var/state"},
		"a file of the state":                  {path: "var/state/scripts/applied.json"},
		"a new file of the state":              {path: "var/state/scripts/swap.json"},
		"a new folder of the state":            {path: "var/state/a/b/c"},
		"a root of trust that isn't there":     {path: "etc/salve/root.json"},
		"a folder on its way that isn't there": {path: "etc/salve"},
		"a folder on the way":                  {path: "opt"},
		"a file below a file":                  {path: "opt/node/x"},
		"a path that is not clean":             {path: "opt/../opt/./node"},
		"a copy of the program": {path: "usr/bin/copy",
			prepare: copyOf("usr/bin/copy", "salve-node itself")},
		"a hard link to the baked program": {path: "usr/a",
			prepare: hardLink("opt/node", "usr/a")},
		"a hard link to a manifest": {path: "usr/a",
			prepare: hardLink("opt/node-hotfix.manifest", "usr/a")},
		"a hard link to a file of the state": {path: "usr/a",
			prepare: hardLink("var/state/trust/root.json", "usr/a")},
		"through a link to the folder": {path: "usr/a/node",
			prepare: link("../opt", "usr/a")},
		"through links that lead up": {path: "usr/a/node",
			prepare: link("b/../../opt", "usr/a", "../var/state/../x", "usr/b")},
		"a link to the program": {path: "usr/a",
			prepare: link("../opt/node", "usr/a")},
		"the state through a link": {path: "usr/a/new",
			prepare: link("../var/state/events", "usr/a")},
		"the place behind the pointer, a link": {path: "usr/real.json",
			prepare: moved("opt/node-hotfix.json", "usr/real.json")},
		"the place behind a link to nowhere": {path: "usr/none.json",
			prepare: link("../usr/none.json", "opt/node-hotfix.json")},
		"the place behind a folder that is a link": {path: "real/node",
			prepare: moved("opt", "real")},
		"a folder behind a link that isn't there": {path: "gone/root.json",
			prepare: link("../gone", "etc/salve")},
		"the folder's part of a bind mount": {path: "mnt/node",
			prepare: bind("opt", "mnt")},
		"a part of the state on a bind mount": {path: "mnt/new",
			prepare: bind("var/state/scripts", "mnt")},
		"a folder above on a bind mount": {path: "mnt/opt/node-hotfix.lock",
			prepare: bind("", "mnt")},
		"the program's own bind mount": {path: "mnt/file",
			prepare: bindFile("opt/node", "mnt/file")},
		"the place below a bind mount of elsewhere": {path: "usr/new/root.json",
			prepare: bind("usr/new", "etc/salve")},
		"the upper layer of an overlay": {path: "upper/node",
			prepare: overlay("lower", "opt")},
		"the lower layer of an overlay": {path: "lower/node",
			prepare: overlay("lower", "opt")},
		"a new file in an upper layer": {path: "upper/node-hotfix.lock",
			prepare: overlay("lower", "opt")},
		"an overlay of the protected folder": {path: "mnt/node",
			prepare: overlay("opt", "mnt")},
	} {
		t.Run(title, func(t *testing.T) {
			n := newNode(t)
			if row.prepare != nil {
				row.prepare(t, n)
			}
			if err := n.refuses(t, row.path); err == nil {
				t.Errorf("%s could be written", row.path)
			}
		})
	}
}

func TestOtherPlacesAreFree(t *testing.T) {
	n := newNode(t)
	check(t, os.MkdirAll(n.at("usr"), 0o755))
	check(t, os.Symlink("../etc", n.at("usr/link")))
	for _, path := range []string{"opt/script.sh", "opt/new.sh", "opt/node2", "opt/node-wrapper.sh", "opt/node.service",
		"opt/node-hotfix2", "opt/node-hotfix-x", "opt/.node.part", "opt/a/node", "etc/unit.service", "etc/salve2",
		"var/state2", "var/x", "new/a/b", "usr/link/new"} {
		if err := n.refuses(t, path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestWhatCanNotBeLookedAtIsNotFree: a loop of links, and a folder without end.
func TestWhatCanNotBeLookedAtIsNotFree(t *testing.T) {
	n := newNode(t)
	check(t, os.Symlink("loop", n.at("opt/loop")))
	m, err := protect.Survey(n.places())
	check(t, err)
	if err := m.Check(n.at("opt/loop/x")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("it says %v", err)
	}
	for i := range 20_001 {
		check(t, os.Symlink("x", n.at(fmt.Sprint("var/state/events/", i))))
	}
	if _, err := protect.Survey(n.places()); err == nil || !strings.Contains(err.Error(), "more than 20000") {
		t.Errorf("it says %v", err)
	}
}

func copyOf(path, content string) func(*testing.T, node) {
	return func(t *testing.T, n node) { n.write(t, path, content) }
}

func hardLink(from, to string) func(*testing.T, node) {
	return func(t *testing.T, n node) {
		check(t, os.MkdirAll(filepath.Dir(n.at(to)), 0o755))
		check(t, os.Link(n.at(from), n.at(to)))
	}
}

// link makes links, given as target and path, in the place of what is there.
func link(pairs ...string) func(*testing.T, node) {
	return func(t *testing.T, n node) {
		for i := 0; i < len(pairs); i += 2 {
			check(t, os.MkdirAll(filepath.Dir(n.at(pairs[i+1])), 0o755))
			check(t, os.RemoveAll(n.at(pairs[i+1])))
			check(t, os.Symlink(pairs[i], n.at(pairs[i+1])))
		}
	}
}

// moved leaves a link in a path's place.
func moved(from, to string) func(*testing.T, node) {
	return func(t *testing.T, n node) {
		check(t, os.MkdirAll(filepath.Dir(n.at(to)), 0o755))
		check(t, os.Rename(n.at(from), n.at(to)))
		check(t, os.Symlink(n.at(to), n.at(from)))
	}
}

func bind(from, to string) func(*testing.T, node) {
	return func(t *testing.T, n node) {
		check(t, os.MkdirAll(n.at(from), 0o755))
		check(t, os.MkdirAll(n.at(to), 0o755))
		mount(t, n.at(from), n.at(to), "", syscall.MS_BIND, "")
	}
}

func bindFile(from, to string) func(*testing.T, node) {
	return func(t *testing.T, n node) {
		n.write(t, to, "")
		mount(t, n.at(from), n.at(to), "", syscall.MS_BIND, "")
	}
}

// overlay mounts one of two folders at a third; what is protected there is in the
// lower one.
func overlay(lower, at string) func(*testing.T, node) {
	return func(t *testing.T, n node) {
		for _, folder := range []string{lower, "upper", "work", at} {
			check(t, os.MkdirAll(n.at(folder), 0o755))
		}
		if lower != at && at == "opt" {
			check(t, os.CopyFS(n.at(lower), os.DirFS(n.at("opt"))))
		}
		mount(t, "overlay", n.at(at), "overlay", 0,
			"lowerdir="+n.at(lower)+",upperdir="+n.at("upper")+",workdir="+n.at("work"))
	}
}

func mount(t *testing.T, from, to, kind string, flags uintptr, options string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	if err := syscall.Mount(from, to, kind, flags, options); err != nil {
		t.Skipf("it can't be mounted here: %v", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(to, syscall.MNT_DETACH)) })
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
