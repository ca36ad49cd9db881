//go:build linux

package payload_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/payload"
	"salve/internal/hotfix/protect"
)

// guarded is a node on which the tool is the baked program.
func guarded(t *testing.T) node {
	t.Helper()
	n := newNode(t)
	n.tree.Protected = []protect.Place{{Path: n.at("/usr/local/bin/tool"), Kind: protect.Family},
		{Path: n.tree.State, Kind: protect.Tree}}
	return n
}

// TestProtectedPlacesAreNeverWritten: nothing of a payload that goes there is, and
// the error says where it would have gone.
func TestProtectedPlacesAreNeverWritten(t *testing.T) {
	for title, row := range map[string]struct {
		path    string
		prepare func(t *testing.T, n node)
	}{
		"the file":             {path: "/usr/local/bin/tool"},
		"what is beside it":    {path: "/usr/local/bin/tool.manifest"},
		"below it":             {path: "/usr/local/bin/tool.bad/x"},
		"its name before that": {path: "/usr/local/bin/.tool.part"},
		"a hard link to it": {path: "/opt/azure/link", prepare: func(t *testing.T, n node) {
			check(t, os.Link(n.at("/usr/local/bin/tool"), n.at("/opt/azure/link")))
		}},
		"by the name under which a file is written first": {path: "/opt/azure/a", prepare: func(t *testing.T, n node) {
			check(t, os.Link(n.at("/usr/local/bin/tool"), n.at("/opt/azure/.a.part")))
		}},
	} {
		t.Run(title, func(t *testing.T) {
			n := guarded(t)
			if row.prepare != nil {
				row.prepare(t, n)
			}
			before := n.list(t)
			payload := payload.Payload{Files: []payload.File{
				{Path: "/opt/azure/script.sh", Mode: 0o700, Content: []byte("new")},
				{Path: row.path, Mode: 0o700, Content: []byte("new")},
			}}
			err := n.apply(version, payload)
			var refused *protect.Error
			if !errors.As(err, &refused) || !strings.HasSuffix(refused.Path, filepath.Base(row.path)) &&
				!strings.HasSuffix(refused.Path, ".part") {
				t.Errorf("it says %v", err)
			}
			if after := n.list(t); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
			n.expectNothingOpen(t)
		})
	}
}

// TestTheStateIsNoPlaceForScripts, not even where the root holds it.
func TestTheStateIsNoPlaceForScripts(t *testing.T) {
	n := newNode(t)
	n.tree.State = n.at("/opt/azure/state")
	n.tree.Protected = []protect.Place{{Path: n.tree.State, Kind: protect.Tree}}
	for _, path := range []string{"/opt/azure/state/applied.json", "/opt/azure/state/swap.json", "/opt/azure/state/a/b"} {
		err := n.apply(version, payload.Payload{Files: []payload.File{{Path: path, Content: []byte("{}")}}})
		var refused *protect.Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestAPlaceThatBecomesProtected: a swap that an earlier version began, or that
// something was mounted over since, is taken back instead of finished; and what was
// replaced before is not put back over it.
func TestAPlaceThatBecomesProtected(t *testing.T) {
	places := func(n node) []protect.Place { return []protect.Place{{Path: n.at("/usr/local/bin/tool")}} }
	t.Run("in the middle", func(t *testing.T) {
		n := newNode(t)
		n.tree.Trace = disk.Trace{Before: func(effect, name string) {
			if effect == "rename" && name == "node.service" { // two names have changed by now
				panic(effect)
			}
		}}
		func() {
			defer func() { _ = recover() }() // as a kill would
			_ = n.apply(version, newFiles())
		}()
		n.tree.Trace, n.tree.Protected = disk.Trace{}, places(n)
		if !n.tree.Unfinished() {
			t.Fatal("nothing is open")
		}
		n.expectFile(t, "/opt/azure/script.sh", "new script", 0o755)
		var refused *protect.Error
		if _, err := n.tree.Recover(); !errors.As(err, &refused) {
			t.Errorf("it says %v", err)
		}
		n.expect(t, oldTree)
		if n.tree.Unfinished() {
			t.Error("it is still open")
		}
	})
	t.Run("after it was replaced", func(t *testing.T) {
		n := newNode(t)
		check(t, n.apply(version, newFiles()))
		n.tree.Protected = places(n)
		done, err := n.tree.Rollback()
		check(t, err)
		if strings.Join(done.Left, " ") != "/usr/local/bin/tool" {
			t.Errorf("left: %v", done.Left)
		}
		n.expectFile(t, "/opt/azure/script.sh", "old script", 0o750)
	})
}
