//go:build linux

package slot_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestTheAnswerOfAVersionCommand: what a program prints counts only when it ends well, and as far as it is kept.
func TestTheAnswerOfAVersionCommand(t *testing.T) {
	const kept = 4 << 10
	for name, row := range map[string]struct {
		script, says, problem string
	}{
		"a version":                        {"echo " + target, target, ""},
		"a version, then a failure":        {"echo " + target + "; exit 3", "", "command failed: exit status 3"},
		"a version, then death":            {"echo " + target + "; kill -9 $$", "", "command failed: signal: killed"},
		"no version":                       {"echo dev", "", `printed no version but "dev\n"`},
		"a version on standard error":      {"echo " + target + " >&2", "", `printed no version but ""`},
		"a version, then a flood":          {"echo " + target + "; head -c 9999999 /dev/zero", target, ""},
		"a version right before the limit": {pad(kept-len(target)-1, target), target, ""},
		"a version behind the limit":       {pad(kept, target), "", "printed no version but"},
		"a version that the limit cuts":    {pad(kept-len(target), target+"0"), "", "printed no version but"},
		"a version in several pieces":      {"printf 202604; printf .01; echo .2", target, ""},
	} {
		t.Run(name, func(t *testing.T) {
			said, err := slot.Ask(t.Context(), script(t, row.script))
			if row.problem == "" {
				check(t, err)
			} else if err == nil || !strings.Contains(err.Error(), row.problem) {
				t.Fatalf("the problem is %v, want %q", err, row.problem)
			}
			if row.says != "" && said.String() != row.says {
				t.Errorf("it says %s, want %s", said, row.says)
			}
		})
	}
}

// pad is a script that prints blanks before a text.
func pad(blanks int, text string) string {
	return "head -c " + strconv.Itoa(blanks) + ` /dev/zero | tr '\0' ' '; echo ` + text
}

// TestAProgramIsAskedInACleanEnvironment: nothing of the node's own reaches it.
func TestAProgramIsAskedInACleanEnvironment(t *testing.T) {
	t.Setenv("LD_PRELOAD_OF_THE_NODE", "secret")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("PATH", os.Getenv("PATH")+":/home/somebody")
	program := script(t, `tr '\0' '\n' </proc/$$/environ >"$0.environment"; pwd >"$0.folder"; echo `+target)
	_, err := slot.Ask(t.Context(), program)
	check(t, err)
	for what, want := range map[string]string{
		"environment": "PATH=/usr/sbin:/usr/bin:/sbin:/bin\nLC_ALL=C\n",
		"folder":      "/\n",
	} {
		if got, err := os.ReadFile(program + "." + what); err != nil || string(got) != want {
			t.Errorf("its %s is %q (%v), want %q", what, got, err, want)
		}
	}
}

// TestNobodyIsLeftBehind: each process that a program started holds its pipe open.
func TestNobodyIsLeftBehind(t *testing.T) {
	for name, row := range map[string]struct {
		ends    string // what the program does when its child has begun
		hangs   bool
		problem string
	}{
		"the time is over":                 {"wait", true, "its version command failed: signal: killed"},
		"it ends before its child":         {"exit 0", false, ""},
		"it fails, and its child lives on": {"exit 3", false, "its version command failed: exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			program := script(t, `exec 3>"$0.pipe"; sleep 3600 & echo `+target+`; echo begun >&3; `+row.ends)
			check(t, syscall.Mkfifo(program+".pipe", 0o600))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			asked := make(chan error, 1)
			go func() {
				_, err := slot.Ask(ctx, program)
				asked <- err
			}()
			pipe := bufio.NewReader(openPipe(t, program+".pipe"))
			if line, err := pipe.ReadString('\n'); err != nil || line != "begun\n" {
				t.Fatalf("it says %q, %v", line, err)
			}
			if row.hangs {
				cancel()
			}
			if err := <-asked; row.problem == "" && err != nil || row.problem != "" && (err == nil ||
				err.Error() != row.problem) {
				t.Errorf("the problem is %v, want %q", err, row.problem)
			}
			if _, err := pipe.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("its child lives: %v", err)
			}
		})
	}
}

// TestADaemonIsLeftBehindByNobody: neither a session of its own nor the death of all its parents hides a process that
// a version command has started; and it is no fault of the answer.
func TestADaemonIsLeftBehindByNobody(t *testing.T) {
	const stay = `sleep 3600; echo`
	for name, daemon := range map[string]string{
		"in a session of its own":                 `setsid sh -c 'echo begun >"$0.begun"; ` + stay + `' "$0" >&2 &`,
		"in a session of its own, without parent": `(setsid sh -c 'echo begun >"$0.begun"; ` + stay + `' "$0" >&2 &);`,
		"that holds the answer open":              `setsid sh -c 'echo begun >"$0.begun"; ` + stay + `' "$0" &`,
		"that has a daemon": `setsid sh -c 'setsid sh -c "echo begun >$0.begun; ` + stay + `" "$0" & ` + stay +
			`' "$0" &`,
	} {
		t.Run(name, func(t *testing.T) {
			program := script(t, daemon+` read begun <"$0.begun"; echo `+target)
			check(t, syscall.Mkfifo(program+".begun", 0o600))
			said, err := slot.Ask(t.Context(), program)
			if err != nil || said.String() != target {
				t.Errorf("it says %s, %v", said, err)
			}
			if left := processesOf(t, program); len(left) > 0 {
				t.Errorf("it left %q", left)
			}
		})
	}
}

// processesOf lists the command lines that name a program.
func processesOf(t *testing.T, program string) (found []string) {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	check(t, err)
	for _, folder := range folders {
		words, _ := os.ReadFile(folder + "/cmdline") // it may be gone
		if strings.Contains(string(words), program) {
			found = append(found, string(words))
		}
	}
	return found
}

// script is a program that is a shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	return hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"), []byte("#!/bin/sh\n"+text+"\n"))
}

// openPipe waits for the one who writes; reading it ends at the latest when the test would be too slow.
func openPipe(t *testing.T, path string) *os.File {
	t.Helper()
	pipe, err := os.Open(path)
	check(t, err)
	t.Cleanup(func() { check(t, pipe.Close()) })
	check(t, pipe.SetReadDeadline(time.Now().Add(20*time.Second)))
	return pipe
}
