package rollout

import "testing"

// TestActionWhoseNameBeginsAsAnothers is not that one: what a step of ARM finds out is nothing about a stack.
func TestActionWhoseNameBeginsAsAnothers(t *testing.T) {
	for changes, want := range map[string]bool{
		"ARM": true, "ARM: t.json with p.json": true, "ARM (skipped by --skip-actions)": true,
		"ARM; SIZE is size of g/a": true, "ARMStack": false, "ARMStack: t.json with p.json": false, "Shell": false,
	} {
		if got := isAction(changes, "ARM"); got != want {
			t.Errorf("%q: %v", changes, got)
		}
	}
}
