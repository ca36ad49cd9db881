package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/kubetest"
)

// rollouts is a pipeline whose step waits for a file, and which runners with journals and environments of their own
// run.
type rollouts struct {
	*testing.T
	folder string
}

func newRollouts(t *testing.T) *rollouts {
	t.Helper()
	r := &rollouts{t, t.TempDir()}
	text := siteHead + "  - name: wait\n    action: Shell\n    shellIdentity: {value: none}\n" +
		"    command: if [ -e fail ]; then rm fail; exit 1; fi; touch began; until [ -e go ]; do sleep 0.05; done\n"
	if err := os.WriteFile(filepath.Join(r.folder, "pipeline.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// runs runs a command as a user with a state folder, and gives its exit code and what it said.
func (r *rollouts) runs(state, kubeconfig string, arguments ...string) (int, string) {
	var log bytes.Buffer
	variables := map[string]string{
		"XDG_STATE_HOME": filepath.Join(r.folder, state), "KUBECONFIG": kubeconfig,
		keyFileVariable: filepath.Join(r.folder, "key"),
	}
	code := execute(&app{
		stdout: &log, stderr: &log, environment: os.Environ(), connect: connect, arguments: arguments,
		lookup: func(name string) string { return variables[name] }, program: Options{Runbooks: BuiltIn()},
	})
	return code, log.String()
}

func (r *rollouts) run(more ...string) []string {
	return append([]string{"pipeline", "run", filepath.Join(r.folder, "pipeline.yaml")}, more...)
}

func (r *rollouts) in(name string) string { return filepath.Join(r.folder, name) }

// while does something while a rollout is at work.
func (r *rollouts) while(state string, first []string, do func()) {
	r.Helper()
	for _, name := range []string{"began", "go"} {
		if err := os.RemoveAll(r.in(name)); err != nil {
			r.Fatal(err)
		}
	}
	ended := make(chan string, 1)
	go func() {
		if code, log := r.runs(state, "", first...); code != exitDecided {
			ended <- log
		}
		close(ended)
	}()
	for deadline := time.Now().Add(patienceOfTests); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(r.in("began")); err == nil {
			break
		} else if time.Now().After(deadline) {
			r.Fatal("the first rollout does not begin")
		}
	}
	do()
	if err := os.WriteFile(r.in("go"), nil, 0o600); err != nil {
		r.Fatal(err)
	}
	if log := <-ended; log != "" {
		r.Errorf("the first rollout failed: %s", log)
	}
}

const patienceOfTests = 30 * time.Second

// isHeld checks that a command is refused, because another runner is at work.
func (r *rollouts) isHeld(state, kubeconfig string, arguments ...string) {
	r.Helper()
	code, log := r.runs(state, kubeconfig, arguments...)
	if code != exitFailed || !strings.Contains(log, "is held by run ") {
		r.Errorf("%s: exit code %d: %s", strings.Join(arguments, " "), code, log)
	}
}

// TestRolloutsOfAFolderAndAClusterHaveOneLease: on whatever machine they are started, and resumed too.
func TestRolloutsOfAFolderAndAClusterHaveOneLease(t *testing.T) {
	plane := kubetest.Start(t)
	r := newRollouts(t)
	if err := os.WriteFile(r.in("fail"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, log := r.runs("second", "", r.run("--journal", r.in("left"))...); code != exitFailed {
		t.Fatalf("exit code %d: %s", code, log)
	}
	left, err := os.ReadDir(filepath.Join(r.in("left"), "runs"))
	if err != nil || len(left) != 1 {
		t.Fatalf("%v, %v", left, err)
	}
	r.while("first", r.run("--kubeconfig", plane.Kubeconfig()), func() {
		r.isHeld("second", "", r.run("--journal", r.in("jx"), "--kubeconfig", plane.Kubeconfig())...)
		r.isHeld("second", plane.Kubeconfig(), r.run("--journal", r.in("jx"))...)
		r.isHeld("second", plane.Kubeconfig(), r.run()...)
		r.isHeld("second", "", "resume", left[0].Name(), "--journal", r.in("left"), "--kubeconfig", plane.Kubeconfig(),
			"--pipeline", r.in("pipeline.yaml"))
	})
}

// TestRolloutsOfTwoFoldersOnAMachineHaveOneLease: without any cluster, for one user, and resumed too.
func TestRolloutsOfTwoFoldersOnAMachineHaveOneLease(t *testing.T) {
	r := newRollouts(t)
	r.while("state", r.run("--journal", r.in("j1")), func() {
		r.isHeld("state", "", r.run("--journal", r.in("j2"))...)
		r.isHeld("state", "", r.run()...)
	})
	r.while("state", r.run("--journal", r.in("j2")), func() { r.isHeld("state", "", r.run("--journal", r.in("j1"))...) })
}

// TestRolloutWithoutAStateFolderWarns: it is not refused, and says what is not seen.
func TestRolloutWithoutAStateFolderWarns(t *testing.T) {
	r := newRollouts(t)
	for _, name := range []string{"go", "file"} {
		if err := os.WriteFile(r.in(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, log := r.runs("file", "", r.run("--journal", r.in("j"), "--logs", r.in("logs"))...)
	const warning = "No lease of this machine is taken, runs in other folders are not seen: "
	if code != exitDecided || !strings.Contains(log, warning) {
		t.Errorf("exit code %d: %s", code, log)
	}
}
