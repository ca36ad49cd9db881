//go:build linux

package slot_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
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
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	check(t, syscall.Mkfifo(pipe, 0o600))
	for name, row := range map[string]struct {
		path  string
		want  error
		unfit bool
	}{
		"a folder":         {folder, disk.ErrNotRegular, true},
		"a pipe":           {pipe, disk.ErrNotRegular, true},
		"a device":         {"/dev/zero", disk.ErrNotRegular, true},
		"a link to a pipe": {linkTo(t, pipe), disk.ErrNotRegular, true},
		"nothing":          {filepath.Join(folder, "none"), fs.ErrNotExist, false},
		"below a file":     {"/proc/self/status/node", syscall.ENOTDIR, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			_, err := stageFile(t, s, row.path, target)
			var unfit *slot.UnfitError
			if !errors.Is(err, row.want) || errors.As(err, &unfit) != row.unfit {
				t.Errorf("staging gave %v, want %v", err, row.want)
			}
			expectNames(t, s, "node", "node-hotfix.lock")
		})
	}
}

// TestAnUnfitCandidateIsNotEvenCopied: it may be as large as the disk.
func TestAnUnfitCandidateIsNotEvenCopied(t *testing.T) {
	for name, image := range hotfixtest.Unfit(t, target) {
		s := newSlot(t)
		s.Trace.Before = func(effect, file string) { t.Errorf("%s: %s %s", name, effect, file) }
		var unfit *slot.UnfitError
		if _, err := stage(t, s, image, target); !errors.As(err, &unfit) {
			t.Errorf("%s: staging gave %v", name, err)
		}
	}
}

// TestTheCopyIsVerified: what counts is the file that will be run, whatever the candidate was.
func TestTheCopyIsVerified(t *testing.T) {
	good := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	for name, row := range map[string]struct {
		spoil   func(t *testing.T, part string)
		problem string
	}{
		"it vanishes": {func(t *testing.T, part string) { check(t, os.Remove(part)) }, "no such file or directory"},
		"it loses its end": {func(t *testing.T, part string) { check(t, os.Truncate(part, int64(len(good)/2))) },
			"the program is unfit: it is truncated"},
		"it becomes a link": {func(t *testing.T, part string) {
			check(t, errors.Join(os.Rename(part, part+".moved"), os.Symlink(filepath.Base(part)+".moved", part)))
		}, disk.ErrNotRegular.Error()},
		"it becomes another program": {func(t *testing.T, part string) {
			hotfixtest.Write(t, part, hotfixtest.Image(t, hotfixtest.Behaviour{Version: current}))
		}, "it says that it is version " + current},
		"it becomes a script": {func(t *testing.T, part string) {
			hotfixtest.Write(t, part, []byte("#!/bin/sh\necho "+target+"\n"))
		}, "it is not an ELF executable"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			s.Trace.Before = func(effect, file string) {
				if effect == "sync" && file == disk.Part("node-hotfix") {
					row.spoil(t, filepath.Join(filepath.Dir(s.Staged), file))
				}
			}
			if _, err := stage(t, s, good, target); err == nil || !strings.Contains(err.Error(), row.problem) {
				t.Errorf("staging gave %v, want %q", err, row.problem)
			}
			expectChoice(t, s, target, slot.NotStaged)
		})
	}
}

// TestAnEndOfTimeIsNoFaultOfTheProgram: fetched again it may be staged.
func TestAnEndOfTimeIsNoFaultOfTheProgram(t *testing.T) {
	s := newSlot(t)
	candidate := hotfixtest.Write(t, filepath.Join(t.TempDir(), "candidate"),
		hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Stage(over, slot.Candidate{Path: candidate, Target: version(t, target)})
	var unfit *slot.UnfitError
	if !errors.Is(err, context.Canceled) || errors.As(err, &unfit) {
		t.Errorf("staging gave %v", err)
	}
	expectNames(t, s, "node")
}

func TestWithoutABakedProgramTheStagedOneIsExecutable(t *testing.T) {
	s := newSlot(t)
	check(t, os.Remove(s.Baked))
	_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target)
	check(t, err)
	if info, err := os.Stat(s.Staged); err != nil || info.Mode() != 0o755 {
		t.Errorf("it is %v, %v", info, err)
	}
	expectChoice(t, s, target, slot.Staged)
}

// TestAPlaceThatIsTaken: nothing is reported as staged that isn't.
func TestAPlaceThatIsTaken(t *testing.T) {
	for name, row := range map[string]struct {
		taken string
		want  error
	}{
		"the program's":               {"node-hotfix", syscall.EEXIST},
		"the half-written program's":  {disk.Part("node-hotfix"), syscall.ENOTEMPTY},
		"the manifest's":              {"node-hotfix.manifest", syscall.EEXIST},
		"the half-written manifest's": {disk.Part("node-hotfix.manifest"), syscall.ENOTEMPTY},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			check(t, os.MkdirAll(filepath.Join(filepath.Dir(s.Staged), row.taken, "full"), 0o755))
			_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target)
			if !errors.Is(err, row.want) {
				t.Errorf("staging gave %v, want %v", err, row.want)
			}
			if choice := s.Choose(decide(target)); choice.Staged() {
				t.Error("it is chosen")
			}
		})
	}
}

// TestAManifestThatCannotBeWrittenIsAnError: the program alone is not staged.
func TestAManifestThatCannotBeWrittenIsAnError(t *testing.T) {
	s := newSlot(t)
	candidate := hotfixtest.Write(t, filepath.Join(t.TempDir(), "candidate"),
		hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}))
	_, err := s.Stage(t.Context(), slot.Candidate{Path: candidate, Target: version(t, target),
		Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}) // a clock beyond what JSON's times can say
	if err == nil || !strings.Contains(err.Error(), "year outside of range") {
		t.Errorf("staging gave %v", err)
	}
	expectChoice(t, s, target, slot.NotStaged)
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

// TestAMissingFolderIsNotTheBakedProgram, and the error doesn't say so, whatever the names.
func TestAMissingFolderIsNotTheBakedProgram(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none/node")
	s := slot.Slot{Baked: missing, Staged: missing}
	if _, err := s.Stage(t.Context(), slot.Candidate{Target: version(t, target)}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("staging gave %v", err)
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
