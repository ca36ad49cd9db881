package slot_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestAProgramThatHangsIsKilled waits in real time: what hangs is a process.
func TestAProgramThatHangsIsKilled(t *testing.T) {
	s := newSlot(t)
	began := time.Now()
	_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target, AnswersAfter: time.Hour}), target)
	if err == nil || !strings.Contains(err.Error(), "did not end within 5s") {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	expectChoice(t, s, target, slot.NotStaged)
}

func TestAskLeavesNobodyBehind(t *testing.T) {
	program := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"),
		hotfixtest.Image(t, hotfixtest.Behaviour{Version: target, Orphan: true}))
	said, err := slot.Ask(t.Context(), program)
	if err != nil || said.String() != target {
		t.Fatalf("%s, %v", said, err)
	}
}
