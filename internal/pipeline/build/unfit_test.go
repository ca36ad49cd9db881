package build_test

import (
	"errors"
	"strings"
	"testing"

	"salve/internal/pipeline/build"
	"salve/internal/pipeline/program"
)

// TestUnfitProgramDoesNotReplaceTheOneBefore: a build that succeeds, and makes what the machine can't execute, leaves
// what it could; the next build builds again.
func TestUnfitProgramDoesNotReplaceTheOneBefore(t *testing.T) {
	s := newSite(t, `printf '\x7fELF' >bin/helper; chmod +x bin/helper`)
	const good = "#!/bin/sh\n"
	s.write("bin/helper", good)
	for range 2 {
		order := s.order()
		order.Machine = program.Here()
		_, err := build.Run(t.Context(), order)
		var misfit *build.MisfitError
		if !errors.As(err, &misfit) || !misfit.Restored || !strings.Contains(err.Error(), "as they were before the build") {
			t.Fatalf("the build says %v", err)
		}
		if got := s.read("bin/helper"); got != good {
			t.Errorf("the program is %q", got)
		}
	}
}

// TestProblemsAreToldApart: several programs that don't fit are one sentence each.
func TestProblemsAreToldApart(t *testing.T) {
	err := &build.MisfitError{Problems: []error{errors.New("a is empty"), errors.New("b is empty")}}
	if got := err.Error(); got != "a is empty; b is empty" {
		t.Error(got)
	}
	for range 100 {
		err.Problems = append(err.Problems, errors.New("c is empty"))
	}
	if got := err.Error(); !strings.HasSuffix(got, "; and 82 more") {
		t.Error(got)
	}
}

// TestPipesThatABuildMakes are not read: that would never end.
func TestPipesThatABuildMakes(t *testing.T) {
	s := newSite(t, "mkfifo -m 600 pipe 2>/dev/null; cp source bin/helper")
	s.write("bin/helper", "before")
	s.build()
	if !s.build().Cached {
		t.Error("built again although nothing had changed")
	}
}
