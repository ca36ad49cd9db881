package endtoend_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"salve/internal/azuresim"
	"salve/internal/kubetest"
	"salve/journal"
	"salve/journal/configmap"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/recreatepool"
)

const (
	// speed makes a recovery of ten minutes last ten seconds, and what it costs.
	speed = "100"
	// lease is the shortest there is, because each killed process's lease has to
	// lapse before the next one goes on.
	lease = time.Second
	// patience bounds what a test waits for.
	patience = 3 * time.Minute
)

// program is the salve program, built once for the tests of this binary, with salve-sim beside it.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "salve-endtoend-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "salve")
	build := exec.Command("go", "build", "-o", folder+string(filepath.Separator), "salve/cmd/salve", "salve/cmd/salve-sim")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building salve: %w: %s", err, output)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // a temporary folder
	}
	os.Exit(code)
}

// stage is a served Azure on the shared control plane, with a journal of its own.
type stage struct {
	*testing.T
	plane     *kubetest.ControlPlane
	program   string
	namespace string
	// how to point salve at the served Azure
	Control     string            `json:"control"`
	CA          string            `json:"ca"`
	Environment map[string]string `json:"environment"`
	Arguments   []string          `json:"arguments"`
	control     *http.Client
	start       azuresim.State
	// leave ends the served Azure.
	leave func()
}

var stages atomic.Int64

// serve starts a served Azure with the scenario wedged. handOut is the kubeconfig that clients get; empty is the
// administrator's. The decisions in the journal in the cluster are made again at the end.
func serve(t *testing.T, handOut string) *stage {
	t.Helper()
	var more []string
	if handOut != "" {
		more = []string{"--hand-out", handOut}
	}
	s := serveWorld(t, "wedged", more...)
	t.Cleanup(s.replayed)
	return s
}

// serveWorld starts a served Azure with a scenario, or one in a file.
func serveWorld(t *testing.T, scenario string, more ...string) *stage {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, plane: kubetest.Start(t), program: path, namespace: fmt.Sprintf("salve-journal-%d", stages.Add(1))}
	arguments := []string{
		"sim", "serve", scenario, "--speed", speed, "--kubeconfig", s.plane.Kubeconfig(), "--output", "json",
		"--ca-file", filepath.Join(t.TempDir(), "ca.pem"),
	}
	server := exec.Command(path, append(arguments, more...)...)
	var log bytes.Buffer
	server.Stderr = &log
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	s.leave = sync.OnceFunc(func() {
		_ = server.Process.Signal(os.Interrupt) // one that has ended says so below
		if err := server.Wait(); err != nil {
			t.Errorf("the served Azure ended with %v: %s", err, log.String())
		}
	})
	t.Cleanup(s.leave)
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the served Azure says nothing: %v: %s", err, log.String())
	}
	if err := json.Unmarshal(line, s); err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(s.CA)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	s.control = &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	t.Cleanup(s.control.CloseIdleConnections)
	s.ask("snapshot", &s.start)
	return s
}

// toAzure are the arguments that point salve at the served Azure, and at nothing in it.
func (s *stage) toAzure() []string {
	return s.Arguments[slices.Index(s.Arguments, "--arm-endpoint"):]
}

// ask reads an answer of the control endpoint.
func (s *stage) ask(path string, into any) {
	s.Helper()
	response, err := s.control.Get(s.Control + path)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.Fatalf("asking for %s: %d, %v: %s", path, response.StatusCode, err, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		s.Fatalf("asking for %s: %v: %s", path, err, text)
	}
}

// changes are the requests that change Azure, of those that it has received.
func (s *stage) changes() []azuresim.Call {
	s.Helper()
	var answer struct{ Calls []azuresim.Call }
	s.ask("calls?api=arm", &answer)
	var changes []azuresim.Call
	for _, call := range answer.Calls {
		if call.Mutating {
			changes = append(changes, call)
		}
	}
	return changes
}

// kept is the journal in the cluster, as another machine would read it.
func (s *stage) kept() *configmap.Journal {
	s.Helper()
	kept, err := configmap.New(configmap.Options{
		Client: s.plane.Client(), Clock: clock.RealClock{}, Namespace: s.namespace,
	})
	if err != nil {
		s.Fatal(err)
	}
	return kept
}

// replayed makes every decision in the journal again, by the records alone.
func (s *stage) replayed() {
	s.Helper()
	runbooktest.Replayed(s, s.kept(), recreatepool.Name, func(history *journal.History) (runbook.Runbook, error) {
		var in recreatepool.Inputs
		if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
			return runbook.Runbook{}, err
		}
		return recreatepool.Replayed(in, history.Header.Target)
	})
}

// records are the runs of the journal in the cluster, the oldest first.
func (s *stage) records() []*journal.Record {
	s.Helper()
	all := func(*journal.History) bool { return true }
	records, err := journal.Find(s.Context(), s.kept(), all, func(run string, err error) {
		s.Errorf("the journal of run %s: %v", run, err)
	})
	if err != nil {
		s.Fatal(err)
	}
	return records
}

// process is salve at work.
type process struct {
	*exec.Cmd
	out   bytes.Buffer
	log   logged
	ended chan struct{}
}

// logged is where a process writes its log.
type logged interface {
	io.Writer
	String() string
}

// run starts salve run as another machine would: all it knows is Azure.
func (s *stage) run(more ...string) *process {
	s.Helper()
	arguments := append([]string{}, s.Arguments...)
	arguments = append(arguments, "--journal-namespace", s.namespace, "--lease-duration", lease.String())
	return s.salve(append(arguments, more...)...)
}

// salve starts the program with any arguments.
func (s *stage) salve(arguments ...string) *process {
	return s.salveWith(&bytes.Buffer{}, arguments...)
}

// salveWith starts the program with a place for its log.
func (s *stage) salveWith(log logged, arguments ...string) *process {
	s.Helper()
	p := &process{Cmd: exec.Command(s.program, arguments...), log: log, ended: make(chan struct{})}
	p.Stdout, p.Stderr = &p.out, p.log
	p.Env = append(os.Environ(), "HOME="+s.TempDir(), "XDG_STATE_HOME=")
	for name, value := range s.Environment {
		p.Env = append(p.Env, name+"="+value)
	}
	if err := p.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		_ = p.Cmd.Wait() // the exit code is asked for
		close(p.ended)
	}()
	s.Cleanup(func() {
		_ = p.Process.Kill() // one that has ended can't be killed
		<-p.ended
	})
	return p
}

// exits waits for the end of a process and checks its exit code.
func (s *stage) exits(p *process, want int) string {
	s.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		s.Fatalf("still at work after %s:\n%s", patience, p.log.String())
	}
	if got := p.ProcessState.ExitCode(); got != want {
		s.Fatalf("exit code %d, want %d\n%s\n%s", got, want, p.out.String(), tail(p.log.String()))
	}
	return p.out.String() + p.log.String()
}

func tail(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

// until waits for something to be so.
func (s *stage) until(what string, holds func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			s.Fatalf("not within %s: %s", patience, what)
		case <-ticker.C:
		}
	}
}

// untilStep waits until the journal announces a step.
func (s *stage) untilStep(step string) {
	s.Helper()
	s.until("step "+step+" is announced", func() bool {
		for _, record := range s.records() {
			if record.Step(step).Attempts > 0 {
				return true
			}
		}
		return false
	})
}

// allow gives a user all rights in the cluster.
func (s *stage) allow(user string) {
	s.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	_, err := s.plane.Client().RbacV1().ClusterRoleBindings().Create(s.Context(), binding, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
}
