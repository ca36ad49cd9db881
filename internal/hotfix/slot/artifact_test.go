//go:build linux

package slot_test

import (
	"strings"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestWhatIsStagedIsUnderTheSignature: a program that came from an artifact is chosen as long as that very one is
// signed.
func TestWhatIsStagedIsUnderTheSignature(t *testing.T) {
	signed, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	for name, row := range map[string]struct {
		from, today string
		reason      slot.Reason
	}{
		"the same artifact":            {signed, signed, slot.Staged},
		"another one is signed today":  {signed, other, slot.OtherArtifact},
		"nobody signed what is staged": {"", signed, slot.OtherArtifact},
		"nothing has to be signed":     {"", "", slot.Staged},
		"nothing has to be any more":   {signed, "", slot.OtherArtifact},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			s.Artifact = row.from
			_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target)
			check(t, err)
			s.Artifact = row.today
			expectChoice(t, s, target, row.reason)
			if whole, err := s.Current(version(t, target)); err != nil || whole != (row.reason == slot.Staged) {
				t.Errorf("nothing has to be fetched: %v, %v", whole, err)
			}
		})
	}
}
