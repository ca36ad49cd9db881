package githubsim_test

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"salve/internal/prow/githubsim"
)

const (
	reconcilerJob = "  - {name: NAME, always_run: true, decorate: false, spec: {containers: [{image: i, command: [c]}]}}\n"
	// nowhere is a Kubernetes API that nobody asks: retiring a context takes none.
	nowhere = `{apiVersion: v1, kind: Config, current-context: default, users: [{name: u, user: {}}],
  clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}], contexts: [{name: default, context: {cluster: c, user: u}}]}`
)

// TestStatusReconcilerRetires: Prow's own program retires the context of a job that went away, where it was posted,
// and nowhere else.
func TestStatusReconcilerRetires(t *testing.T) {
	path, folder := program(t, "status-reconciler"), t.TempDir()
	w := world()
	repo := w.Repo("kube/widgets")
	for number := 1; number <= 2; number++ {
		repo.Pull(number).Head = githubsim.SHA(string(rune('0' + number)))
	}
	repo.Commit(repo.Pull(1).Head).Statuses = []githubsim.Status{{Context: "old", State: "failure"}}
	sim := githubsim.New(githubsim.Options{World: w})
	address, stop, err := sim.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	at := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	job := func(name string) string { return strings.ReplaceAll(reconcilerJob, "NAME", name) }
	write("config.yaml", "presubmits:\n  kube/widgets:\n"+job("unit")+job("old"))
	write("plugins.yaml", "{}")
	write("kubeconfig", nowhere)
	write("token", "robot-token")
	command := exec.CommandContext(t.Context(), path, "--config-path="+at("config.yaml"),
		"--plugin-config="+at("plugins.yaml"), "--kubeconfig="+at("kubeconfig"), "--github-token-path="+at("token"),
		"--github-endpoint="+address, "--github-graphql-endpoint="+address+"/graphql", "--status-path="+at("status.yaml"),
		"--dry-run=false", "--metrics-port="+freePort(t), "--pprof-port="+freePort(t), "--health-port="+freePort(t))
	output := &lockedBuffer{}
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = command.Process.Signal(syscall.SIGKILL) // it may have ended
		_ = command.Wait()
	}()
	await(t, output, "it has saved the configuration", func() bool {
		info, err := os.Stat(at("status.yaml"))
		return err == nil && info.Size() > 0
	})
	write("config.yaml", "presubmits:\n  kube/widgets:\n"+job("unit"))
	await(t, output, "it has retired the context", func() bool { return len(sim.Changes()) > 0 })
	await(t, output, "it has seen both pull requests", func() bool {
		seen := 0
		for _, call := range sim.Calls() {
			if call.Method == http.MethodGet && strings.Contains(call.Path, "/status") {
				seen++
			}
		}
		return seen >= 2
	})
	changes := sim.Changes()
	if len(changes) != 1 || changes[0].Status != http.StatusCreated ||
		!strings.Contains(changes[0].Body, `"context":"old"`) || !strings.Contains(changes[0].Body, `"state":"success"`) ||
		!strings.HasSuffix(changes[0].Path, githubsim.SHA("1")) {
		t.Errorf("changed %+v\n%s", changes, output)
	}
}

// await polls for two minutes: a program of Prow's is slow to start on a busy machine.
func await(t *testing.T, log *lockedBuffer, what string, done func() bool) {
	t.Helper()
	for range 1200 {
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("not within two minutes: %s\n%s", what, log)
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// lockedBuffer takes the output of a program that still runs.
type lockedBuffer struct {
	lock   sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.buffer.String()
}
