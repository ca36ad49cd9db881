package build_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/pipeline/build"
)

// TestFailedBuildLeavesSourcesAlone: what git tracks, and what is outside of the pipeline's folder, is nothing that the
// build step is there to make. Somebody may be at work on it.
func TestFailedBuildLeavesSourcesAlone(t *testing.T) {
	for name, row := range map[string]struct{ path, command string }{
		"a script that git tracks":       {"bin/helper", "./bin/helper --now"},
		"a program beside the folder":    {"../beside/helper", "../beside/helper --now"},
		"a program beside, not there":    {"../beside/new", "../beside/new --now"},
		"a program that the build makes": {"", "./bin/made --now"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "mkdir -p bin ../beside; echo half >bin/made; echo edited >"+cmp.Or(row.path, "bin/other")+"; false")
			s.folder = filepath.Join(s.folder, "inside")
			s.write("pipeline.yaml", strings.Replace(s.read("../pipeline.yaml"), "./bin/helper --now", row.command, 1))
			s.write("bin/helper", "old")
			s.write("../beside/helper", "old")
			for _, arguments := range [][]string{{"init", "-q"}, {"add", "bin/helper"}} {
				command := exec.Command("git", arguments...)
				command.Dir = s.folder
				if out, err := command.CombinedOutput(); err != nil {
					t.Skipf("git %v: %v: %s", arguments, err, out)
				}
			}
			if _, err := build.Run(t.Context(), s.order()); err == nil {
				t.Fatal("the build did not fail")
			}
			if got := s.read(row.path); row.path != "" && got != "edited\n" {
				t.Errorf("it is %q", got)
			}
			if got := s.read("bin/made"); row.path == "" && got != "nothing" {
				t.Errorf("half of what was made is left: %q", got)
			}
		})
	}
}

// TestFailedBuildIsNotTakenForTheOneBefore: one that was asked for anew and failed is tried again the next time.
func TestFailedBuildIsNotTakenForTheOneBefore(t *testing.T) {
	s := newSite(t, `mkdir -p bin; cat source >bin/helper; test ! -e ../broken`)
	s.build()
	s.write("../broken", "")
	s.anew = true
	if _, err := build.Run(t.Context(), s.order()); err == nil {
		t.Fatal("the build did not fail")
	}
	s.anew = false
	if _, err := build.Run(t.Context(), s.order()); err == nil {
		t.Error("the build that failed was taken for done")
	}
}

// TestOnlyWhatWasBuiltIsMadeExecutable: the mode of a program that was there before is its owner's.
func TestOnlyWhatWasBuiltIsMadeExecutable(t *testing.T) {
	for name, row := range map[string]struct {
		script string
		mode   os.FileMode
	}{
		"what the build makes":        {"cat source >bin/helper", 0o744},
		"what the build leaves alone": {"true", 0o644},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, row.script)
			s.write("bin/helper", "#!/bin/sh\n")
			path := filepath.Join(s.folder, "bin/helper")
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			s.build()
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm()&0o100 != row.mode&0o100 {
				t.Errorf("%v, %v, want %v", info.Mode(), err, row.mode)
			}
		})
	}
}
