//go:build linux

package launch_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTheLineOfAPreparation: whatever the child does, there is a line or an error in time, and nobody is left.
func TestTheLineOfAPreparation(t *testing.T) {
	for name, row := range map[string]struct{ script, budget, says string }{
		"it says a line":                 {"echo chosen", "1m", `line: "chosen", error: <nil>`},
		"it says a line and fails":       {"echo chosen; exit 3", "1m", `line: "chosen", error: <nil>`},
		"it says a line and hangs":       {"echo chosen; sleep 3600", "1m", `line: "chosen", error: <nil>`},
		"it says two":                    {"echo chosen; echo other", "1m", `line: "chosen", error: <nil>`},
		"it says nothing":                {"exit 0", "1m", `the child ended with exit code 0 and said no line`},
		"it panics":                      {"exit 2", "1m", `the child ended with exit code 2 and said no line`},
		"it dies":                        {"kill -9 $$", "1m", `the child died from the signal "killed"`},
		"it says half a line":            {"printf chos", "1m", `the child ended with exit code 0 and said no line`},
		"it says half a line and hangs":  {"printf chos; sleep 3600", "500ms", "the budget ended"},
		"it says too much":               {"yes | tr -d '\\n'", "1m", `the child said more than a line`},
		"it hangs":                       {"sleep 3600", "500ms", "the budget ended"},
		"it hangs and ignores SIGTERM":   {`trap "" TERM; sleep 3600; sleep 3600`, "500ms", "the budget ended"},
		"its daemon holds the pipe":      {"setsid sleep 3600 & exit 1", "1m", "exit code 1 and said no line"},
		"its daemon would say something": {"setsid sh -c 'sleep 3600; echo' & exit 0", "1m", "exit code 0 and said no line"},
		"it says an empty line":          {"echo", "1m", `line: "", error: <nil>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := t.TempDir()
			out, _, code := run(t, itself(t, prepare+"=: "+mark+"; "+row.script, within+"="+row.budget))
			if code != 0 || !strings.Contains(out, row.says) {
				t.Errorf("exit code %d, it says %s", code, out)
			}
			expectNobody(t, mark)
		})
	}
}

// TestAPreparationHeedsAStop: it is not waited for, and a hang-up is no stop.
func TestAPreparationHeedsAStop(t *testing.T) {
	for one, says := range map[syscall.Signal]string{
		syscall.SIGTERM: `asked to end by the signal "terminated"`, syscall.SIGINT: `asked to end by the signal "interrupt"`,
		syscall.SIGQUIT: `asked to end by the signal "quit"`, syscall.SIGHUP: "the budget ended",
	} {
		t.Run(one.String(), func(t *testing.T) {
			t.Parallel()
			mark := filepath.Join(t.TempDir(), "begun")
			check(t, syscall.Mkfifo(mark, 0o600))
			command := itself(t, prepare+"=echo >"+mark+"; sleep 3600", within+"=3s")
			var out bytes.Buffer
			command.Stdout = &out
			check(t, command.Start())
			check(t, exec.Command("cat", mark).Run())
			check(t, command.Process.Signal(one))
			check(t, command.Wait())
			if !strings.Contains(out.String(), says) {
				t.Errorf("it says %s, want %s", out.String(), says)
			}
			expectNobody(t, mark)
		})
	}
}

// expectNobody looks for processes that have the mark in their environment, as all have that a child started.
func expectNobody(t *testing.T, mark string) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	check(t, err)
	for _, path := range found {
		if environment, err := os.ReadFile(path); err == nil && bytes.Contains(environment, []byte(mark)) {
			t.Errorf("left: %s", path)
		}
	}
}
