package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVersionIsStampedFromGit: nobody has to name a version for a program to know which commit it is of.
func TestVersionIsStampedFromGit(t *testing.T) {
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Skip("not in a checkout of git")
	}
	program := filepath.Join(t.TempDir(), "salve")
	if out, err := exec.Command("go", "build", "-buildvcs=true", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said, err := exec.Command(program, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(said)) // salve VERSION REVISION (GO)
	if len(fields) != 4 || fields[0] != "salve" || !strings.HasPrefix(fields[1], "v") ||
		strings.TrimSuffix(fields[2], "+modified") != strings.TrimSpace(string(head)) {
		t.Errorf("%q, want the version of %s", said, head)
	}
}
