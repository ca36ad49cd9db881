package slot_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix"
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
