package slot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/slot"
)

func TestTwoDoNotStageAtOnce(t *testing.T) {
	s := newSlot(t)
	release, err := s.Lock(t.Context())
	check(t, err)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Lock(short); !errors.Is(err, slot.ErrBusy) {
		t.Errorf("the second one got %v", err)
	}
	release()
	again, err := s.Lock(t.Context())
	check(t, err)
	again()
}

func TestLeftoversAreCleared(t *testing.T) {
	s := newSlot(t)
	folder := filepath.Dir(s.Staged)
	check(t, os.WriteFile(filepath.Join(folder, disk.Part("node-hotfix")), []byte("half"), 0o600))
	check(t, os.WriteFile(filepath.Join(folder, disk.Part("node-hotfix.manifest")), []byte("{"), 0o600))
	scratch, _, err := s.Scratch()
	check(t, err)
	check(t, os.WriteFile(filepath.Join(scratch, "package.deb"), nil, 0o600))
	check(t, s.Tidy())
	expectNames(t, s, "node")
}
