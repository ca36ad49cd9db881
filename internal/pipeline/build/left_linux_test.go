package build_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"salve/internal/pipeline/build"
)

// TestWhatAKilledBuildLeftRunningIsEnded before the old program is brought back: it would go on writing to it.
func TestWhatAKilledBuildLeftRunningIsEnded(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, `echo half >bin/helper; `+
		`setsid sh -c 'echo $$ >../pid.next; mv ../pid.next ../pid; exec sleep 602' & wait`)
	s.write("bin/helper", "old")
	builder := exec.Command(self)
	builder.Env = append(os.Environ(), "BUILD_AND_BE_KILLED="+s.folder, "STATE="+s.state)
	if err := builder.Start(); err != nil {
		t.Fatal(err)
	}
	for s.read("../pid") == "nothing" {
		time.Sleep(time.Millisecond)
	}
	if err := builder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = builder.Wait() // that it was killed is known
	if err := build.Mend(t.Context(), s.order()); err != nil {
		t.Fatal(err)
	}
	// One that has ended and that nobody has looked at yet has no command any more.
	command, err := os.ReadFile("/proc/" + strings.TrimSpace(s.read("../pid")) + "/cmdline")
	if err == nil && len(command) > 0 {
		t.Errorf("%q goes on", command)
	}
	if got := s.read("bin/helper"); got != "old" {
		t.Errorf("the helper is %q", got)
	}
}
