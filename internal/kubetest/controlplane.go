package kubetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// readyLimit is far more than a start takes, for machines that are busy.
const readyLimit = 3 * time.Minute

// ControlPlane is a running control plane. It is safe for concurrent use.
type ControlPlane struct {
	programs   string
	folder     string
	ports      ports
	kubeconfig string
	config     *rest.Config
	client     kubernetes.Interface

	mu        sync.Mutex
	processes map[string]*process

	end  io.Closer
	wait func() error
}

// shared is the control plane of the test binary. It lives until the process is
// gone, when the keeper ends it.
var shared = sync.OnceValues(func() (*ControlPlane, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readyLimit)
	defer cancel()
	return Launch(ctx)
})

// Start gives the control plane that the tests of this binary share, and starts it
// when it is first asked for.
func Start(t testing.TB) *ControlPlane {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatalf("starting a control plane: %v", err)
	}
	return c
}

// Launch starts a control plane of one's own and waits until it is ready. Close
// ends it; so does the end of this process.
func Launch(ctx context.Context) (*ControlPlane, error) {
	found, err := findPrograms()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "salve-control-plane-")
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{programs: found, folder: folder, kubeconfig: filepath.Join(folder, "kubeconfig"),
		processes: map[string]*process{}}
	if c.end, c.wait, err = keep(folder); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if err := c.begin(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *ControlPlane) begin(ctx context.Context) (err error) {
	if c.ports, err = freePorts(); err != nil {
		return err
	}
	if err := errors.Join(c.writeKeys(), c.writeStages()); err != nil {
		return err
	}
	if err := c.run("etcd"); err != nil {
		return err
	}
	if err := c.run("kube-apiserver"); err != nil {
		return err
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	for _, name := range controllers() {
		if err := c.run(name); err != nil {
			return err
		}
	}
	return c.awaitControllers(ctx)
}

// controllers are the programs that do the rest, once there is an API server.
func controllers() []string {
	return []string{"kube-controller-manager", "kube-scheduler", "kwok"}
}

// run starts a program with the arguments that it has here.
func (c *ControlPlane) run(name string) error {
	p, err := start(launch{
		name: name, folder: c.folder, log: c.file(name + ".log"), program: c.Program(name), arguments: c.arguments(name),
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes[name] = p
	return nil
}

func (c *ControlPlane) process(name string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.processes[name]
}

// Close ends every process and removes the folder.
func (c *ControlPlane) Close() error {
	c.mu.Lock()
	for _, p := range c.processes {
		p.kill()
	}
	c.mu.Unlock()
	return errors.Join(c.end.Close(), c.wait())
}

// Program is the path of one of the programs, such as kubectl.
func (c *ControlPlane) Program(name string) string { return filepath.Join(c.programs, name) }

// Kubeconfig is the path of a kubeconfig whose user may do everything.
func (c *ControlPlane) Kubeconfig() string { return c.kubeconfig }

// Config reaches the API server as a user who may do everything, with no limit of
// the client's own.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Client is a client of Config.
func (c *ControlPlane) Client() kubernetes.Interface { return c.client }

// StopAPIServer kills the API server, as kill -9 does.
func (c *ControlPlane) StopAPIServer(t testing.TB) {
	t.Helper()
	c.process("kube-apiserver").kill()
}

// StartAPIServer starts the API server again, on the same port and data, and waits
// until it is ready. The controllers begin anew too, as they do wherever they lose
// the API for long: their leases end, and they with them.
func (c *ControlPlane) StartAPIServer(t testing.TB) {
	t.Helper()
	if err := c.run("kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), readyLimit)
	defer cancel()
	if err := c.awaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	for _, name := range controllers() {
		c.process(name).kill()
	}
	if err := c.forgetKwok(ctx); err != nil {
		t.Fatal(err)
	}
	for _, name := range controllers() {
		if err := c.run(name); err != nil {
			t.Fatal(err)
		}
	}
}

// forgetKwok removes the leases that a dead kwok holds on its nodes: the next one
// has another name, and would wait until they lapse.
func (c *ControlPlane) forgetKwok(ctx context.Context) error {
	leases := c.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	if err := leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("removing the leases of nodes: %w", err)
	}
	return nil
}

// PauseEtcd stops etcd from answering until the function that it returns is
// called: the API server can neither read nor write, and does not know what became
// of its writes.
func (c *ControlPlane) PauseEtcd(t testing.TB) (resume func()) {
	t.Helper()
	etcd := c.process("etcd")
	if err := etcd.signal(stop); err != nil {
		t.Fatal(err)
	}
	c.awaitSilence(t)
	resume = sync.OnceFunc(func() {
		if err := etcd.signal(goOn); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(resume)
	return resume
}

// awaitSilence waits until etcd does not answer: a stop takes a moment to reach all
// of its threads.
func (c *ControlPlane) awaitSilence(t testing.TB) {
	t.Helper()
	client := &http.Client{Timeout: 200 * time.Millisecond}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), readyLimit)
	defer cancel()
	err := c.until(ctx, "etcd", func() error {
		response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/health", c.ports.etcd))
		if err != nil {
			return nil
		}
		return errors.Join(errors.New("etcd still answers"), response.Body.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// failure says why a program is not what was waited for.
func (c *ControlPlane) failure(name, what string) error {
	return fmt.Errorf("%s %s; the end of its log:\n%s", name, what, c.process(name).lastWords())
}
