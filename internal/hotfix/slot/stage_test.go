package slot_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

const (
	current = "202604.01.0"
	target  = "202604.01.2"
)

func TestAGoodProgramIsStaged(t *testing.T) {
	s := newSlot(t)
	check(t, os.Chmod(s.Baked, 0o750))
	manifest, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target)
	check(t, err)
	if manifest.Target != target || manifest.Source != "the test" || len(manifest.SHA256) != 64 {
		t.Errorf("the manifest says %+v", manifest)
	}
	info, err := os.Stat(s.Staged)
	check(t, err)
	if info.Mode() != 0o750 {
		t.Errorf("the staged program has mode %s, the baked one -rwxr-x---", info.Mode())
	}
	expectChoice(t, s, target, slot.Staged)
	expectNames(t, s, "node", "node-hotfix", "node-hotfix.lock", "node-hotfix.manifest")
	if there, err := s.Current(version(t, target)); !there || err != nil {
		t.Errorf("it is not known to be staged: %v", err)
	}
}

func TestTheVersionThatAProgramSays(t *testing.T) {
	for name, row := range map[string]struct {
		says, wanted string
		fits         bool
	}{
		"the target":             {target, target, true},
		"the target among words": {"node program " + target + " (commit 1)", target, true},
		"the target with the distribution's suffix":      {target + "-ubuntu24.04u1", target, true},
		"the target without the suffix it was asked for": {target, target + "-ubuntu24.04u1", true},
		"another suffix than was asked for":              {target + "-azl3", target + "-ubuntu24.04u1", false},
		"a version that begins like it":                  {"202604.01.20", target, false},
		"a version that it begins like":                  {"202604.01.2", "202604.01.20", false},
		"another base":                                   {"202605.01.2", target, false},
		"the target behind another version":              {current + " " + target, target, false},
		"nothing":                                        {"", target, false},
		"dev":                                            {"dev", target, false},
		"with a v":                                       {"v" + target, target, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: row.says}), row.wanted)
			if fits := err == nil; fits != row.fits {
				t.Errorf("fits: %t (%v)", fits, err)
			}
		})
	}
}

func TestAnUnfitProgramIsNotStaged(t *testing.T) {
	images := hotfixtest.Unfit(t, target)
	images["failing"] = hotfixtest.Image(t, hotfixtest.Behaviour{Version: target, AnswerExit: 1})
	for name, image := range images {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target)
			check(t, err)
			_, err = stage(t, s, image, "202604.01.3")
			var unfit *slot.UnfitError
			if !errors.As(err, &unfit) {
				t.Fatalf("staging gave %v", err)
			}
			expectChoice(t, s, target, slot.Staged) // what was staged before is as it was
			expectChoice(t, s, "202604.01.3", slot.OtherTarget)
			expectNames(t, s, "node", "node-hotfix", "node-hotfix.lock", "node-hotfix.manifest")
		})
	}
}

func TestWhatIsNoFileIsNotStaged(t *testing.T) {
	s := newSlot(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(pipe, 0o600))
	for name, path := range map[string]string{"a folder": t.TempDir(), "a pipe": pipe, "a device": "/dev/zero",
		"nothing": filepath.Join(t.TempDir(), "none")} {
		if _, err := stageFile(t, s, path, target); err == nil {
			t.Errorf("%s was staged", name)
		}
	}
}

func TestTheBakedProgramIsNeverReplaced(t *testing.T) {
	for name, spoil := range map[string]func(s *slot.Slot){
		"the same path":                 func(s *slot.Slot) { s.Staged = s.Baked },
		"the same path in other words":  func(s *slot.Slot) { s.Staged = filepath.Dir(s.Baked) + "/./node" },
		"a link to its folder":          func(s *slot.Slot) { s.Staged = linkTo(t, filepath.Dir(s.Baked)) + "/node" },
		"the baked one is a link to it": func(s *slot.Slot) { s.Staged, s.Baked = s.Baked, linkTo(t, s.Baked) },
		"the baked one is a link":       func(s *slot.Slot) { s.Baked = linkTo(t, s.Baked); s.Staged = s.Baked },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			baked := s.Baked
			spoil(&s)
			link := s.Baked
			if _, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target); err == nil {
				t.Error("it was staged")
			}
			if said, err := slot.Ask(t.Context(), baked); err != nil || said.String() != current {
				t.Errorf("the baked program is %s, %v", said, err)
			}
			if said, err := slot.Ask(t.Context(), link); err != nil || said.String() != current {
				t.Errorf("by its own path it is %s, %v", said, err)
			}
		})
	}
}

func linkTo(t *testing.T, path string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(path, link))
	return link
}

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

func TestABadProgramIsNotStagedAgain(t *testing.T) {
	s := newSlot(t)
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	manifest, err := stage(t, s, image, target)
	check(t, err)
	check(t, s.MarkBad(manifest.SHA256))
	check(t, s.MarkBad(manifest.SHA256))
	expectChoice(t, s, target, slot.MarkedBad)
	if _, err := s.Current(version(t, target)); !errors.Is(err, slot.ErrMarkedBad) {
		t.Errorf("fetching it again would not be in vain: %v", err)
	}
	if _, err := stage(t, s, image, target); !errors.Is(err, slot.ErrMarkedBad) {
		t.Errorf("staging it again: %v", err)
	}
	// A mended build of the same version, or the next version, has its chance.
	_, err = stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target, Exit: 1}), target)
	check(t, err)
	expectChoice(t, s, target, slot.Staged)
}

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

// TestDisksThatRefuse: the error says what it is, and the baked program is chosen.
func TestDisksThatRefuse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a disk takes root")
	}
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	t.Run("full", func(t *testing.T) {
		s := newSlot(t)
		s.Staged = filepath.Join(mount(t, "size=1m"), "node-hotfix")
		if _, err := stage(t, s, image, target); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("staging gave %v", err)
		}
		expectChoice(t, s, target, slot.NotStaged)
		check(t, s.Tidy())
		expectNames(t, s, "node-hotfix.lock")
	})
	t.Run("full but for the manifest", func(t *testing.T) {
		s := newSlot(t)
		disk := mount(t, "size=16m,nr_inodes=4") // the folder, the lock, the program: one is left
		s.Staged = filepath.Join(disk, "node-hotfix")
		check(t, os.WriteFile(filepath.Join(disk, "another"), nil, 0o600))
		if _, err := stage(t, s, image, target); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("staging gave %v", err)
		}
		expectChoice(t, s, target, slot.NotStaged)
	})
	t.Run("read-only", func(t *testing.T) {
		s := newSlot(t)
		disk := mount(t, "size=16m")
		s.Staged = filepath.Join(disk, "node-hotfix")
		_, err := stage(t, s, image, target)
		check(t, err)
		check(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		expectChoice(t, s, target, slot.Staged) // it takes nothing but reading
		if _, err := stage(t, s, image, "202604.01.3"); !errors.Is(err, syscall.EROFS) {
			t.Fatalf("staging gave %v", err)
		}
		if err := s.MarkBad(strings.Repeat("0", 64)); !errors.Is(err, syscall.EROFS) {
			t.Errorf("marking gave %v", err)
		}
	})
	t.Run("that executes nothing", func(t *testing.T) {
		s := newSlot(t)
		disk := mount(t, "size=16m")
		s.Staged = filepath.Join(disk, "node-hotfix")
		check(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_NOEXEC, ""))
		var unfit *slot.UnfitError
		if _, err := stage(t, s, image, target); !errors.As(err, &unfit) {
			t.Fatalf("staging gave %v", err)
		}
	})
}

func mount(t *testing.T, options string) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, options); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(disk, 0)) })
	return disk
}

// newSlot has a baked program, and nothing staged.
func newSlot(t *testing.T) slot.Slot {
	t.Helper()
	folder := t.TempDir()
	baked := hotfixtest.Write(t, filepath.Join(folder, "node"),
		hotfixtest.Image(t, hotfixtest.Behaviour{Version: current}))
	return slot.Slot{Baked: baked, Staged: filepath.Join(folder, "node-hotfix")}
}

func stage(t *testing.T, s slot.Slot, image []byte, wanted string) (slot.Manifest, error) {
	t.Helper()
	return stageFile(t, s, hotfixtest.Write(t, filepath.Join(t.TempDir(), "candidate"), image), wanted)
}

func stageFile(t *testing.T, s slot.Slot, path, wanted string) (slot.Manifest, error) {
	t.Helper()
	release, err := s.Lock(t.Context())
	if err != nil {
		return slot.Manifest{}, err
	}
	defer release()
	return s.Stage(t.Context(), slot.Candidate{Path: path, Target: version(t, wanted), Source: "the test",
		Time: time.Now()})
}

// expectChoice checks what is chosen when today's decision installs wanted, and
// that what is chosen runs.
func expectChoice(t *testing.T, s slot.Slot, wanted string, reason slot.Reason) {
	t.Helper()
	choice := s.Choose(decide(wanted))
	if choice.Reason != reason {
		t.Errorf("chosen: %s because of %s (%v), want %s", choice.Path, choice.Reason, choice.Err, reason)
	}
	want, says := s.Baked, current
	if reason == slot.Staged {
		want, says = s.Staged, wanted
	}
	if choice.Path != want {
		t.Errorf("chosen: %s, want %s", choice.Path, want)
	}
	said, err := exec.Command(choice.Path, "version").Output()
	if err != nil || strings.TrimSpace(string(said)) != says {
		t.Errorf("%s says %q (%v), want %s", choice.Path, said, err, says)
	}
}

func version(t *testing.T, text string) hotfix.Version {
	t.Helper()
	parsed, err := hotfix.ParseVersion(text)
	check(t, err)
	return parsed
}

func expectNames(t *testing.T, s slot.Slot, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(s.Staged))
	check(t, err)
	var got bytes.Buffer
	for _, entry := range entries {
		got.WriteString(entry.Name() + " ")
	}
	if strings.TrimSpace(got.String()) != strings.Join(want, " ") {
		t.Errorf("the folder holds %s, want %v", &got, want)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
