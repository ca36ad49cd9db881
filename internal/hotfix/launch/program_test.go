package launch_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/launch"
)

// The test program launches in its own stead when it is started with:
const (
	supervise = "LAUNCH_TEST_SUPERVISE" // this program, and says its fault on standard error
	replace   = "LAUNCH_TEST_REPLACE"   // itself by this program
	trial     = "LAUNCH_TEST_TRIAL"
)

func TestMain(m *testing.M) {
	program := launch.Program{Path: os.Getenv(supervise), Arguments: os.Args[1:], Clock: clock.RealClock{}}
	switch {
	case os.Getenv(supervise) != "":
		program.Trial, _ = time.ParseDuration(os.Getenv(trial))
		ending := program.Supervise()
		fmt.Fprintf(os.Stderr, "fault: %q, blameless: %t\n", ending.Fault, ending.Blameless)
		os.Exit(ending.Code)
	case os.Getenv(replace) != "":
		program.Path = os.Getenv(replace)
		err := program.Replace()
		fmt.Fprintln(os.Stderr, err)
		os.Exit(launch.ExitOf(err))
	}
	heed()
	os.Exit(m.Run())
}

// heed lets the processes that the tests start begin with signals that are not
// ignored: under nohup, or in the background of a script, some are.
func heed() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if signal.Ignored(syscall.SIGINT) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGQUIT)
	}
}

func TestEndings(t *testing.T) {
	for name, row := range map[string]struct {
		does  hotfixtest.Behaviour
		trial time.Duration
		code  int
		fault string
	}{
		"it ends well":             {hotfixtest.Behaviour{}, time.Minute, 0, `""`},
		"its exit code is its own": {hotfixtest.Behaviour{Exit: 3}, time.Minute, 3, `""`},
		"127 is an exit code too":  {hotfixtest.Behaviour{Exit: 127}, time.Minute, 127, `""`},
		"it crashes at once": {hotfixtest.Behaviour{DiesFrom: syscall.SIGSEGV}, time.Minute, 139,
			"segmentation fault"},
		"it is killed at once": {hotfixtest.Behaviour{DiesFrom: syscall.SIGKILL}, time.Minute, 137, "killed"},
		"it aborts at once":    {hotfixtest.Behaviour{DiesFrom: syscall.SIGABRT}, time.Minute, 134, "abort"},
		"nobody but itself ended it": {hotfixtest.Behaviour{DiesFrom: syscall.SIGTERM}, time.Minute, 143,
			"terminated"},
		"it crashes when its trial was over": {hotfixtest.Behaviour{DiesFrom: syscall.SIGSEGV, For: 300 * time.Millisecond},
			100 * time.Millisecond, 139, `""`},
	} {
		t.Run(name, func(t *testing.T) {
			path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"), hotfixtest.Image(t, row.does))
			out, said, code := run(t, itself(t, supervise+"="+path, trial+"="+row.trial.String(), "provision", "--now"))
			if code != row.code || !strings.Contains(said, row.fault) {
				t.Errorf("exit code %d, %s", code, said)
			}
			if !strings.Contains(out, "ran  provision --now") {
				t.Errorf("it printed %q", out)
			}
		})
	}
}

func TestWhatCanNotBeStarted(t *testing.T) {
	folder := t.TempDir()
	check(t, os.WriteFile(filepath.Join(folder, "not executable"), []byte("#!/bin/sh\n"), 0o644))
	for name, image := range hotfixtest.Unfit(t, "202604.01.2") {
		if name != "truncated" && name != "a script" { // the kernel starts both
			hotfixtest.Write(t, filepath.Join(folder, name), image)
		}
	}
	entries, err := os.ReadDir(folder)
	check(t, err)
	for _, entry := range append([]string{"none", "."}, names(entries)...) {
		t.Run(entry, func(t *testing.T) {
			_, said, code := run(t, itself(t, supervise+"="+filepath.Join(folder, entry), trial+"=1m"))
			if want := map[bool]int{true: 127, false: 126}[entry == "none"]; code != want {
				// A header alone is started, and dies at once.
				if entry != "a header alone" || code != 139 && code != 137 {
					t.Errorf("exit code %d, want %d", code, want)
				}
			}
			if strings.Contains(said, `fault: ""`) || !strings.Contains(said, "blameless: false") {
				t.Errorf("it says %s", said)
			}
		})
	}
}

// TestSignals sends each signal to the parent alone.
func TestSignals(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"),
		hotfixtest.Image(t, hotfixtest.Behaviour{Signals: true, Exit: 5}))
	for role, how := range map[string]string{"passed on": supervise, "to the program that took our place": replace} {
		t.Run(role, func(t *testing.T) {
			parent, lines := begin(t, itself(t, how+"="+path, trial+"=1m"))
			expectLine(t, lines, "ran")
			for _, one := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGUSR2,
				syscall.SIGWINCH, syscall.SIGTERM} {
				check(t, parent.Process.Signal(one))
				expectLine(t, lines, "got "+one.String())
			}
			expectEnd(t, parent, 5)
		})
	}
}

// TestASignalOfOthersIsNoFault: the program died from what it was sent.
func TestASignalOfOthersIsNoFault(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"),
		hotfixtest.Image(t, hotfixtest.Behaviour{For: time.Minute}))
	for _, one := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		parent, lines := begin(t, itself(t, supervise+"="+path, trial+"=1m"))
		expectLine(t, lines, "ran")
		check(t, parent.Process.Signal(one))
		expectEnd(t, parent, 128+int(one))
	}
}

// TestASignalToBoth is what a terminal does, and systemd to a control group.
func TestASignalToBoth(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"),
		hotfixtest.Image(t, hotfixtest.Behaviour{For: time.Minute}))
	for range 10 {
		command := itself(t, supervise+"="+path, trial+"=1m")
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		parent, lines := begin(t, command)
		expectLine(t, lines, "ran")
		check(t, syscall.Kill(-parent.Process.Pid, syscall.SIGINT))
		expectEnd(t, parent, 130)
	}
}

func TestAnIgnoredSignalStaysIgnored(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"),
		hotfixtest.Image(t, hotfixtest.Behaviour{For: time.Second}))
	nohup := exec.Command("/bin/sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0])
	nohup.Env = append(os.Environ(), supervise+"="+path, trial+"=1m")
	parent, lines := begin(t, nohup)
	expectLine(t, lines, "ran")
	check(t, parent.Process.Signal(syscall.SIGHUP))
	expectEnd(t, parent, 0)
}

func TestReplace(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"), hotfixtest.Image(t, hotfixtest.Behaviour{Exit: 9}))
	out, _, code := run(t, itself(t, replace+"="+path, "a b", "--c"))
	if code != 9 || !strings.Contains(out, "ran  a b --c") {
		t.Errorf("exit code %d, %q", code, out)
	}
	if _, said, code := run(t, itself(t, replace+"="+path+"-none")); code != launch.ExitNotFound ||
		!strings.Contains(said, "no such file") {
		t.Errorf("exit code %d, %q", code, said)
	}
	if _, _, code := run(t, itself(t, replace+"=/etc/passwd")); code != launch.ExitNotExecutable {
		t.Errorf("exit code %d", code)
	}
}

// itself is this test program in another role; words with a «=» are variables.
func itself(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	for _, word := range words {
		if strings.HasPrefix(word, "LAUNCH_TEST_") {
			command.Env = append(command.Env, word)
		} else {
			command.Args = append(command.Args, word)
		}
	}
	return command
}

func run(t *testing.T, command *exec.Cmd) (out, said string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), command.ProcessState.ExitCode()
}

// begin starts a process and reads its lines, one at a time.
func begin(t *testing.T, command *exec.Cmd) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	out, err := command.StdoutPipe()
	check(t, err)
	command.Stderr = &bytes.Buffer{}
	check(t, command.Start())
	overdue := time.AfterFunc(2*time.Minute, func() { _ = out.Close() }) // ends the wait for a line
	t.Cleanup(func() { overdue.Stop() })
	return command, bufio.NewScanner(out)
}

func expectLine(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
		t.Fatalf("got %q, want %q", lines.Text(), want)
	}
}

func expectEnd(t *testing.T, command *exec.Cmd, code int) {
	t.Helper()
	_ = command.Wait() // the exit code is looked at
	said := command.Stderr.(*bytes.Buffer).String()
	if got := command.ProcessState.ExitCode(); got != code || (said != "" && !strings.Contains(said, `fault: ""`)) {
		t.Errorf("exit code %d, want %d; %s", got, code, said)
	}
}

func names(entries []os.DirEntry) []string {
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
