package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/pipeline/process"
)

// TestMain lets the test's own program be the one that is killed: it runs a
// command that outlives it, as salve would.
func TestMain(m *testing.M) {
	if text := os.Getenv("RUN_AS_THE_FIRST"); text != "" {
		runAsTheFirst(text)
	}
	if mark := os.Getenv("RUN_AND_BE_KILLED"); mark != "" {
		bash, _ := exec.LookPath("bash")
		_, err := process.Command{
			Path: bash, Arguments: []string{"-c", "sleep 600 & echo $! >child; touch began; wait"}, Environment: os.Environ(),
			Stdout: os.Stdout, Stderr: os.Stdout, Mark: mark, Grace: time.Second, Clock: clock.RealClock{},
		}.Run(context.Background())
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func shell(t *testing.T, text string, out *bytes.Buffer) process.Command {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	return process.Command{
		Path: bash, Arguments: []string{"-c", text}, Folder: t.TempDir(), Environment: os.Environ(),
		Stdout: out, Stderr: out, Grace: 10 * time.Second, Clock: clock.RealClock{},
	}
}

func alive(pid string) bool {
	raw, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
	return err == nil && !strings.Contains(string(raw), ") Z ")
}

func TestEndings(t *testing.T) {
	for _, test := range []struct {
		name, text, says string
		ending           string
		byItself         bool
	}{
		{"success", "echo out; echo err >&2", "out\nerr\n", "exit code 0", true},
		{"failure", "echo no; exit 7", "no\n", "exit code 7", true},
		{"killed by another", "kill -9 $$", "", "killed by signal 9 (killed)", false},
		{"clean environment", `echo "$ONLY"`, "this\n", "exit code 0", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			command := shell(t, test.text, &out)
			command.Environment = []string{"ONLY=this", "PATH=" + os.Getenv("PATH")}
			ending, err := command.Run(t.Context())
			if err != nil || out.String() != test.says || ending.String() != test.ending || ending.ByItself() != test.byItself ||
				ending.Stopped {
				t.Errorf("ended %v (%+v), said %q, %v", ending, ending, out.String(), err)
			}
		})
	}
}

func TestWhatCantBeStarted(t *testing.T) {
	command := shell(t, "true", &bytes.Buffer{})
	command.Path = filepath.Join(command.Folder, "nothing")
	if _, err := command.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "starting "+command.Path) {
		t.Errorf("got %v", err)
	}
}

// TestStopReachesGrandchildren: SIGTERM goes to all of the group, and each has
// the whole grace to end in its own way, also when its parent went at once.
func TestStopReachesGrandchildren(t *testing.T) {
	var out bytes.Buffer
	command := shell(t,
		`bash -c 'trap "sleep 0.3; echo grandchild ended; exit" TERM; echo ready >ready; while :; do sleep 0.05; done' & wait`, &out)
	ctx, stop := context.WithCancel(t.Context())
	context.AfterFunc(until(ctx, t, filepath.Join(command.Folder, "ready")), stop)
	ending, err := command.Run(ctx)
	if err != nil || !ending.Stopped || ending.ByItself() {
		t.Fatalf("%+v, %v", ending, err)
	}
	if !strings.Contains(out.String(), "grandchild ended\n") {
		t.Errorf("said %q", out.String())
	}
}

// TestStopOfTheDeaf: what ignores SIGTERM is killed after the grace.
func TestStopOfTheDeaf(t *testing.T) {
	var out bytes.Buffer
	command := shell(t, `trap '' TERM; sleep 600 & echo $! >child; echo >ready; wait`, &out)
	command.Grace = 100 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	context.AfterFunc(until(ctx, t, filepath.Join(command.Folder, "ready")), stop)
	ending, err := command.Run(ctx)
	if err != nil || !ending.Stopped || ending.Signal != syscall.SIGKILL {
		t.Fatalf("%+v, %v", ending, err)
	}
	gone(t, filepath.Join(command.Folder, "child"))
}

// TestNothingOutlivesItsCommand: a command that succeeds does not leave children.
func TestNothingOutlivesItsCommand(t *testing.T) {
	var out bytes.Buffer
	command := shell(t, `sleep 600 & echo $! >child`, &out)
	began := time.Now()
	ending, err := command.Run(t.Context())
	if err != nil || ending.Code != 0 || ending.Stopped {
		t.Fatalf("%+v, %v", ending, err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("took %s", took)
	}
	gone(t, filepath.Join(command.Folder, "child"))
}

// TestKilledRunnerLeavesNothingUnseen: when the runner is killed, the kernel
// kills the command, and what the command had started is found by its mark.
func TestKilledRunnerLeavesNothingUnseen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found by their marks on Linux")
	}
	folder, mark := t.TempDir(), "test-"+filepath.Base(t.TempDir())+t.Name()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runner := exec.Command(self)
	runner.Dir, runner.Env = folder, append(os.Environ(), "RUN_AND_BE_KILLED="+mark)
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	<-until(t.Context(), t, filepath.Join(folder, "began")).Done()
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = runner.Wait()
	left, looked := process.Marked(mark)
	if !looked || len(left) == 0 || !strings.Contains(process.List(left), "sleep 600") {
		t.Fatalf("found %v", left)
	}
	ended, err := process.EndMarked(t.Context(), clock.RealClock{}, mark, time.Second)
	if err != nil || len(ended) == 0 {
		t.Errorf("ended %v, %v", ended, err)
	}
	gone(t, filepath.Join(folder, "child"))
}

// until gives a context that ends when a file is there.
func until(parent context.Context, t *testing.T, path string) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(parent, 30*time.Second)
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(path); err == nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return ctx
}

func gone(t *testing.T, path string) {
	t.Helper()
	pid, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" && alive(string(pid)) {
		t.Errorf("process %s is still there", pid)
	}
}
