//go:build linux

package payload_test

import (
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix/hotfixtest"
)

// TestPowerCutAnywhere cuts the power at every point between two syncs. After the
// next start all files are old or all are new, and new when that was reported.
func TestPowerCutAnywhere(t *testing.T) {
	for _, row := range []struct {
		work          string
		before, after string
		do            func(node) error
	}{
		{"apply", oldTree, newTree, func(n node) error { return n.apply(version, newFiles()) }},
		{"rollback", newTree, oldTree, func(n node) error { _, err := n.tree.Rollback(); return err }},
	} {
		t.Run(row.work, func(t *testing.T) {
			n := newNode(t)
			if row.before == newTree {
				check(t, n.apply(version, newFiles()))
			}
			power := hotfixtest.RecordPower(t, filepath.Dir(n.tree.Root))
			n.tree.Trace = power.Trace()
			check(t, row.do(n))
			ends := map[string]int{}
			for _, cut := range power.Cuts() {
				folder := t.TempDir()
				cut.Restore(t, folder)
				again := node{treeIn(folder)}
				if _, err := again.tree.Recover(); err != nil {
					t.Errorf("%s: it can't be recovered: %v", cut.At, err)
				}
				end := again.list(t)
				if ends[end]++; end != row.before && end != row.after || strings.Contains(cut.At, "the end") && end != row.after {
					t.Errorf("%s: the node has\n%s", cut.At, end)
				}
				if again.tree.Unfinished() {
					t.Errorf("%s: the swap is still open", cut.At)
				}
			}
			if ends[row.before] < 10 || ends[row.after] < 10 {
				t.Errorf("the cuts were not all over the place: %d before, %d after", ends[row.before], ends[row.after])
			}
		})
	}
}
