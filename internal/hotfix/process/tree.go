//go:build linux

package process

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// Program is what to start.
type Program struct {
	Path        string // of the file that is executed
	Arguments   []string
	Environment []string
	Folder      string     // where it starts; empty for the caller's
	Files       []*os.File // its descriptors, from 0; nil leaves one closed
	// Ours: whoever knows the caller's process ID can end the program's group by it,
	// even after the caller's death. The caller must have no other children.
	Ours bool
}

// Tree is a program that was started, and all who descend from it.
type Tree struct {
	leader int
	group  int
	since  uint64 // when the leader was started, in the kernel's ticks
	cgroup *cgroup
	alone  bool // the caller has no other children
	status syscall.WaitStatus
	ended  bool
}

// Start begins a program. From then on the caller is the parent of those whose
// parents die; and the program dies when the thread that started it ends, which
// should therefore be locked to a goroutine that doesn't.
func Start(p Program) (*Tree, error) {
	if err := adopt(); err != nil {
		return nil, err
	}
	t := &Tree{alone: p.Ours}
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if p.Ours {
		back := lendGroup(attributes)
		defer back()
		t.cgroup = newCgroup()
	}
	files := make([]uintptr, len(p.Files))
	for i, file := range p.Files {
		if files[i] = ^uintptr(0); file != nil {
			files[i] = file.Fd()
		}
	}
	how := &syscall.ProcAttr{Dir: p.Folder, Env: p.Environment, Files: files, Sys: attributes}
	pid, err := t.cgroup.start(how, func() (int, error) {
		pid, _, err := syscall.StartProcess(p.Path, p.Arguments, how)
		return pid, err
	})
	runtime.KeepAlive(p.Files)
	if err != nil {
		t.cgroup.remove()
		return nil, &os.PathError{Op: "start", Path: p.Path, Err: err}
	}
	t.leader, t.group = pid, pid
	if attributes.Pgid != 0 {
		t.group = attributes.Pgid
	}
	t.since = startTime(pid)
	return t, nil
}

// lendGroup lets a program be in the group that has this process's ID, and gives back
// how this process leaves that group. Who leads a session can't; then the program's
// group is its own.
func lendGroup(attributes *syscall.SysProcAttr) (leave func()) {
	own, before := os.Getpid(), syscall.Getpgrp()
	if before == own || syscall.Setpgid(0, 0) != nil {
		return func() {}
	}
	attributes.Pgid = own
	return func() { _ = syscall.Setpgid(0, before) } // the parent's group, which is there as long as the parent
}

// Signal sends a signal to the program itself.
func (t *Tree) Signal(signal syscall.Signal) {
	if !t.ended { // until its end is taken in, its ID is no other process's
		_ = syscall.Kill(t.leader, signal)
	}
}

// SignalGroup sends a signal to the program's group. Its ID is the program's, and may
// be another's after the end; or this process's own, and is not.
func (t *Tree) SignalGroup(signal syscall.Signal) {
	if !t.ended || t.group != t.leader {
		_ = syscall.Kill(-t.group, signal)
	}
}

// Wait waits until the program has ended. It does not take in the end.
func (t *Tree) Wait() {
	for peek(one, t.leader, 0) == syscall.EINTR {
		continue
	}
}

// Ended takes in the ends of children, and tells whether the program's was among
// them, now or before. It does not wait.
func (t *Tree) Ended() (status syscall.WaitStatus, ended bool) {
	who := t.leader
	if t.alone {
		who = -1
	}
	for !t.ended || t.alone {
		var one syscall.WaitStatus
		pid, err := syscall.Wait4(who, &one, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		if pid == t.leader {
			t.status, t.ended = one, true
		}
	}
	return t.status, t.ended
}
