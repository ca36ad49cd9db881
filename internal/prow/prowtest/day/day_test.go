package main

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/prow/prowtest"
)

// TestTheWholeDay plays the day with fewer jobs. Each act fails where it doesn't come out as it is told.
func TestTheWholeDay(t *testing.T) {
	prowtest.Need(t, prowtest.Plank, prowtest.BranchProtector)
	salve := filepath.Join(t.TempDir(), "salve")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", salve, "salve/cmd/salve")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building salve: %v: %s", err, said)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	var out bytes.Buffer
	err := run(ctx, []string{"-salve", salve, "-running", "6", "-started", "4"}, &out)
	if testing.Verbose() || err != nil {
		t.Logf("%s", &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, told := range []string{"The 6 pods that ran when the day began still run.", "finds nothing to change"} {
		if !strings.Contains(out.String(), told) {
			t.Errorf("it was not told that %q", told)
		}
	}
}

// TestADayThatIsTooSmallIsRefused before anything starts.
func TestADayThatIsTooSmallIsRefused(t *testing.T) {
	for _, arguments := range [][]string{{"-running", "0"}, {"-started", "2"}, {"-unknown"}} {
		if err := run(t.Context(), arguments, &bytes.Buffer{}); err == nil {
			t.Errorf("%q is taken", arguments)
		}
	}
}
