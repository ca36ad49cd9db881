package kubetest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// process is one running program, whose output goes to a file.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// launch is how a program is started. Its PID file, which the keeper of the folder reads, has its name.
type launch struct {
	name, folder, log, program string
	arguments                  []string
}

func (l launch) pidFile() string { return filepath.Join(l.folder, l.name+".pid") }

// start runs a program in the folder. Its PID file tells the keeper whom to kill.
func start(l launch) (*process, error) {
	p := &process{name: l.name, log: l.log, done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(l.program, l.arguments...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = l.folder, log, log
	p.cmd.Env = append(os.Environ(), "HOME="+l.folder) // no program finds a person's own settings
	p.cmd.SysProcAttr = ownGroup()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", l.name, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its log
		close(p.done)
	}()
	if err := os.WriteFile(l.pidFile(), []byte(strconv.Itoa(p.cmd.Process.Pid)+"\n"), 0o600); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// kill ends the process as a power cut would, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // one that has ended can't be killed
	<-p.done
}

func (p *process) signal(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("sending %s to %s: %w", signal, p.name, err)
	}
	return nil
}

// lastWords are the end of the process's output, for an error.
func (p *process) lastWords() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

// keeper kills what the PID files in a folder name and removes the folder, as
// soon as its standard input ends: when this process closes it, or dies.
const keeper = `cat >/dev/null
cd "$1" && for file in *.pid; do read -r pid <"$file" && kill -KILL "$pid"; done 2>/dev/null
tries=0
until rm -rf "$1" 2>/dev/null || [ $tries -gt 50 ]; do tries=$((tries+1)); sleep 0.1; done`

// keep starts the keeper of a folder. Closing what it returns begins the clean-up;
// wait returns when that is finished.
func keep(folder string) (end io.Closer, wait func() error, err error) {
	cmd := exec.Command("sh", "-c", keeper, "keeper", folder)
	cmd.SysProcAttr = ownSession() // an interrupt of the tests must not end it
	end, err = cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("starting the keeper of the control plane: %w", err), end.Close())
	}
	return end, cmd.Wait, nil
}
