//go:build linux

package launch_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
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
	supervise = "LAUNCH_TEST_SUPERVISE" // this program, and says how it ended on standard error
	replace   = "LAUNCH_TEST_REPLACE"   // itself by this program
	prepare   = "LAUNCH_TEST_PREPARE"   // what this shell script says
	within    = "LAUNCH_TEST_WITHIN"    // as the deadline or the budget
)

func TestMain(m *testing.M) {
	program := launch.Program{Path: os.Getenv(supervise), Arguments: os.Args[1:], Clock: clock.RealClock{}}
	limit, err := time.ParseDuration(os.Getenv(within))
	if err != nil {
		limit = time.Minute
	}
	runtime.LockOSThread()
	switch {
	case os.Getenv(supervise) != "":
		os.Exit(superviseIt(program, limit))
	case os.Getenv(prepare) != "":
		line, err := launch.Preparation{
			Path: "/bin/sh", Arguments: []string{"sh", "-c", os.Getenv(prepare)}, Budget: limit, Clock: clock.RealClock{},
		}.Run(context.Background(), launch.Listen(nil))
		fmt.Printf("line: %q, error: %v\n", line, err)
	case os.Getenv(replace) != "":
		program.Path = os.Getenv(replace)
		err := program.Replace()
		fmt.Fprintln(os.Stderr, err)
		os.Exit(launch.ExitOf(err))
	default:
		heed()
		runtime.UnlockOSThread()
		os.Exit(m.Run())
	}
}

func superviseIt(program launch.Program, deadline time.Duration) (code int) {
	var err error
	if program.File, err = os.Open(program.Path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return launch.ExitOf(err)
	}
	program.Path = "/the/name"
	run, err := program.Start(launch.Listen(nil))
	if err != nil {
		fmt.Fprintf(os.Stderr, "scarce: %t, %v\n", launch.Scarce(err), err)
		return launch.ExitOf(err)
	}
	exit := run.Wait(context.Background(), deadline)
	ends := map[launch.End]string{launch.Exited: "exited", launch.Died: "died", launch.Stopped: "stopped",
		launch.Overdue: "overdue"}
	fmt.Fprintf(os.Stderr, "%s: %s\n", ends[exit.End], exit.Says)
	if err := run.EndRest(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return exit.Code
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
		does     hotfixtest.Behaviour
		deadline string
		code     int
		says     string
	}{
		"it ends well":             {hotfixtest.Behaviour{}, "1m", 0, "exited: it ended with exit code 0"},
		"its exit code is its own": {hotfixtest.Behaviour{Exit: 3}, "1m", 3, "exited: it ended with exit code 3"},
		"127 is an exit code too":  {hotfixtest.Behaviour{Exit: 127}, "1m", 127, "exited: it ended with exit code 127"},
		"it crashes": {hotfixtest.Behaviour{DiesFrom: syscall.SIGSEGV}, "1m", 139,
			`died: it died from the signal "segmentation fault"`},
		"it is killed": {hotfixtest.Behaviour{DiesFrom: syscall.SIGKILL}, "1m", 137, `died: it died from the signal "killed"`},
		"it aborts":    {hotfixtest.Behaviour{DiesFrom: syscall.SIGABRT}, "1m", 134, `died: it died from the signal "abort`},
		"nobody but itself ended it": {hotfixtest.Behaviour{DiesFrom: syscall.SIGTERM}, "1m", 143,
			`died: it died from the signal "terminated"`},
		"it is overdue": {hotfixtest.Behaviour{For: time.Hour}, "500ms", 143, "overdue: it did not end within 500ms"},
		"it is overdue, and will not end": {hotfixtest.Behaviour{Becomes: `trap "" TERM; sleep 3600; sleep 3600`}, "500ms", 137,
			"overdue: it did not end within 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"), hotfixtest.Image(t, row.does))
			out, said, code := run(t, itself(t, supervise+"="+path, within+"="+row.deadline, "provision", "--now"))
			if code != row.code || !strings.Contains(said, row.says) {
				t.Errorf("exit code %d, %s", code, said)
			}
			if !strings.Contains(out, "ran  provision --now") {
				t.Errorf("it printed %q", out)
			}
		})
	}
}

// TestAnOverdueProgramsGroupIsAsked: those whom it has started may have something to put away too.
func TestAnOverdueProgramsGroupIsAsked(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"), hotfixtest.Image(t, hotfixtest.Behaviour{
		Becomes: `trap : TERM; sh -c 'trap "echo asked; exit" TERM; while :; do sleep 0.05; done' & wait $!; wait $!; exit 6`}))
	out, said, code := run(t, itself(t, supervise+"="+path, within+"=500ms"))
	if code != 6 || !strings.Contains(out, "asked") || !strings.Contains(said, "overdue: it did not end within 500ms") {
		t.Errorf("exit code %d, %q, %s", code, out, said)
	}
}

// TestAStopOfAnOverdueProgram: the exit code that it makes of it says nothing any more, and nothing runs in its stead.
func TestAStopOfAnOverdueProgram(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"), hotfixtest.Image(t, hotfixtest.Behaviour{
		Becomes: `n=0; trap 'echo asked; [ $n = 1 ] && exit 0; n=1' TERM; while :; do sleep 0.05; done`}))
	parent, lines := begin(t, itself(t, supervise+"="+path, within+"=300ms"))
	expectLine(t, lines, "ran")
	expectLine(t, lines, "asked")
	check(t, parent.Process.Signal(syscall.SIGTERM))
	expectLine(t, lines, "asked")
	expectEnd(t, parent, 128+int(syscall.SIGTERM))
	if said := parent.Stderr.(*bytes.Buffer).String(); !strings.Contains(said, "stopped:") {
		t.Errorf("it says %s", said)
	}
}

// TestWhatIsOpenRuns, whatever has its name by now, under the name that it is given.
func TestWhatIsOpenRuns(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"it is there":             func(string) error { return nil },
		"its name is another's":   func(path string) error { return hotfixtest.Put(path, []byte("#!/bin/sh\necho\n")) },
		"it has no name any more": os.Remove,
		"its name is a folder's":  func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
		"its folder is another":   func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "folder", "node")
			check(t, os.Mkdir(filepath.Dir(path), 0o755))
			hotfixtest.Write(t, path, hotfixtest.Image(t, hotfixtest.Behaviour{
				Becomes: `echo "$0"; [ "$INHERITED" = yes ] && [ "$GIVEN" = too ]`}))
			file, err := os.Open(path)
			check(t, err)
			defer file.Close()
			check(t, spoil(path))
			t.Setenv("INHERITED", "yes")
			read, write, err := os.Pipe()
			check(t, err)
			defer read.Close()
			stdout := os.Stdout
			os.Stdout = write
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			run, err := launch.Program{File: file, Path: "/the/name", Environment: []string{"GIVEN=too"},
				Clock: clock.RealClock{}}.Start(launch.Listen(nil))
			os.Stdout = stdout
			check(t, errors.Join(err, write.Close()))
			exit := run.Wait(t.Context(), time.Minute)
			printed, err := io.ReadAll(read)
			if exit.End != launch.Exited || exit.Code != 0 || err != nil || string(printed) != "ran  \n/the/name\n" {
				t.Errorf("%+v, %q, %v", exit, printed, err)
			}
		})
	}
}

func TestWhatCanNotBeStarted(t *testing.T) {
	folder := t.TempDir()
	check(t, os.WriteFile(filepath.Join(folder, "not executable"), []byte("#!/bin/sh\n"), 0o644))
	for name, image := range hotfixtest.Unfit(t, "202604.01.2") {
		if name != "truncated" && name != "a script" && name != "a header alone" { // the kernel starts these
			hotfixtest.Write(t, filepath.Join(folder, name), image)
		}
	}
	entries, err := os.ReadDir(folder)
	check(t, err)
	for _, entry := range append([]string{"."}, names(entries)...) {
		t.Run(entry, func(t *testing.T) {
			_, said, code := run(t, itself(t, supervise+"="+filepath.Join(folder, entry)))
			if code != launch.ExitNotExecutable || !strings.Contains(said, "scarce: false") {
				t.Errorf("exit code %d, it says %s", code, said)
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
			parent, lines := begin(t, itself(t, how+"="+path))
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
		parent, lines := begin(t, itself(t, supervise+"="+path))
		expectLine(t, lines, "ran")
		check(t, parent.Process.Signal(one))
		expectEnd(t, parent, 128+int(one))
	}
}

// TestASignalToBoth is what systemd does to a control group.
func TestASignalToBoth(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"),
		hotfixtest.Image(t, hotfixtest.Behaviour{Becomes: "echo $$; exec sleep 60"}))
	for range 10 {
		parent, lines := begin(t, itself(t, supervise+"="+path))
		expectLine(t, lines, "ran")
		expectLine(t, lines, "")
		child, err := strconv.Atoi(lines.Text())
		check(t, err)
		check(t, errors.Join(syscall.Kill(child, syscall.SIGINT), parent.Process.Signal(syscall.SIGINT)))
		expectEnd(t, parent, 130)
	}
}

func TestAnIgnoredSignalStaysIgnored(t *testing.T) {
	path := hotfixtest.Write(t, filepath.Join(t.TempDir(), "node"),
		hotfixtest.Image(t, hotfixtest.Behaviour{For: time.Second}))
	nohup := exec.Command("/bin/sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0])
	nohup.Env = append(os.Environ(), supervise+"="+path)
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
	if got := command.ProcessState.ExitCode(); got != code || strings.Contains(said, "died:") {
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
