package kubetest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Process is a program that runs beside a control plane, and ends with it at the latest.
type Process struct {
	*process
	plane *ControlPlane
	pid   string
}

// Run starts a program whose output goes to the file log. The keeper of the control plane ends it when this process
// is gone, however it went.
func (c *ControlPlane) Run(log, program string, arguments ...string) (*Process, error) {
	name := fmt.Sprintf("%s-%d", filepath.Base(program), counter.Add(1))
	how := launch{name: name, folder: c.folder, log: log, program: program, arguments: arguments}
	started, err := start(how)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes[name] = started
	return &Process{process: started, plane: c, pid: how.pidFile()}, nil
}

// Kill ends the program as kill -9 does, and waits until it is gone.
func (p *Process) Kill() error {
	p.kill()
	p.plane.mu.Lock()
	defer p.plane.mu.Unlock()
	delete(p.plane.processes, p.name)
	if err := os.Remove(p.pid); err != nil && !errors.Is(err, os.ErrNotExist) { // or the keeper would kill a stranger
		return err
	}
	return nil
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Log is the path of its output.
func (p *Process) Log() string { return p.log }

// LastWords are the end of its output, for an error.
func (p *Process) LastWords() string { return p.lastWords() }

// ExitCode is that of a program that has ended; -1 for one that runs or was killed.
func (p *Process) ExitCode() int {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	default:
		return -1
	}
}

// Logged tells whether its output has the text.
func (p *Process) Logged(text string) (bool, error) {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return false, err
	}
	return strings.Contains(string(raw), text), nil
}

// FreePorts asks the system for n ports of the loopback interface that nobody listens on.
func FreePorts(n int) ([]int, error) {
	found := make([]int, n)
	for i := range found {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer listener.Close() // all are held until all are found
		found[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return found, nil
}
