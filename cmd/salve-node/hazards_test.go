//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"salve/internal/hotfix/hotfixtest"
)

// What can be wrong with a machine: each gives what does it.

// tiny stages, confirmed, a program that needs nothing, and ends as the baked one does.
func tiny(m *machine) {
	image, made := hotfixtest.Tiny(bakedCode)
	if !made {
		image = hotfixtest.Image(m.t, hotfixtest.Behaviour{Version: stagedVersion, Exit: bakedCode})
	}
	m.stageImage(image)
	m.confirmed()
}

func before(line string) preparing { return func(m *machine) { m.before = line } }

func inNamespace(line string) preparing {
	return func(m *machine) { m.around, m.before = []string{"unshare", "--mount"}, line+" || exit 99" }
}

func without(name string) preparing {
	return func(m *machine) { check(m.t, os.Remove(filepath.Join(m.folder, name))) }
}

func with(name string) preparing { return func(m *machine) { m.write(name, "") } }

// nodeIs puts something in salve-node's place.
func nodeIs(content []byte, mode fs.FileMode) preparing {
	return func(m *machine) {
		path := filepath.Join(m.folder, "salve-node")
		check(m.t, os.Remove(path))
		switch {
		case mode.IsDir():
			check(m.t, os.Mkdir(path, 0o755))
		case mode != 0:
			check(m.t, os.WriteFile(path, content, mode))
		}
	}
}

func halfNode(m *machine) {
	whole, err := os.ReadFile(filepath.Join(m.folder, "salve-node"))
	check(m.t, err)
	nodeIs(whole[:len(whole)/2], 0o755)(m)
}

// fullStandardError is a pipe that nobody reads and that takes nothing more.
func fullStandardError(m *machine) {
	read, write, err := os.Pipe()
	check(m.t, err)
	m.t.Cleanup(func() { check(m.t, errors.Join(read.Close(), write.Close())) })
	descriptor := int(write.Fd())
	check(m.t, syscall.SetNonblock(descriptor, true))
	for {
		if _, err := syscall.Write(descriptor, make([]byte, 512)); err != nil {
			break
		}
	}
	check(m.t, syscall.SetNonblock(descriptor, false))
	m.stderr = write
}

// isLocked: somebody else is fetching, for as long as the test runs, and nothing is staged.
func isLocked(m *machine) { locked(m) }

func locked(m *machine) *os.File {
	check(m.t, os.Remove(m.staged+".manifest"))
	lock, err := os.OpenFile(m.staged+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	check(m.t, err)
	m.t.Cleanup(func() { _ = lock.Close() })
	check(m.t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	return lock
}

func stopsPrepare(m *machine, _ *exec.Cmd) {
	check(m.t, syscall.Kill(m.find("prepare"), syscall.SIGSTOP))
}

func killsPrepare(m *machine, _ *exec.Cmd) {
	check(m.t, syscall.Kill(m.find("prepare"), syscall.SIGKILL))
}

// onDisk moves what is staged, with all that lies beside it, to a disk of its own.
func onDisk(options string) preparing {
	return func(m *machine) {
		disk := filepath.Join(m.folder, "disk")
		check(m.t, os.Mkdir(disk, 0o755))
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "none", disk).CombinedOutput(); err != nil {
			m.t.Skipf("no disk can be mounted here: %s", out)
		}
		m.t.Cleanup(func() { check(m.t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
		m.staged = filepath.Join(disk, filepath.Base(m.staged))
		m.flags["staged"] = m.staged
		m.stage(hotfixtest.Behaviour{})
	}
}

func readOnly(m *machine) {
	var err error
	m.eventually("nobody writes to the disk", func() bool { // a process that another test is starting may hold a file
		err = syscall.Mount("", filepath.Dir(m.staged), "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		return !errors.Is(err, syscall.EBUSY)
	})
	check(m.t, err)
}

// fill writes until the disk is full, to the last byte.
func fill(m *machine) {
	file, err := os.Create(filepath.Join(filepath.Dir(m.staged), "filler"))
	check(m.t, err)
	defer file.Close()
	for _, size := range []int{1 << 20, 4096, 1} {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			m.t.Fatal(err)
		}
	}
}

// processes leaves the boot so many processes and threads.
func processes(most int) preparing {
	return func(m *machine) {
		group := filepath.Join("/sys/fs/cgroup/pids", filepath.Base(filepath.Dir(m.folder)))
		if err := os.Mkdir(group, 0o755); err != nil {
			m.t.Skipf("no group with a number of processes: %v", err)
		}
		m.t.Cleanup(func() { check(m.t, syscall.Rmdir(group)) })
		check(m.t, os.WriteFile(filepath.Join(group, "pids.max"), fmt.Append(nil, most), 0o644))
		m.before = "echo $$ >" + group + "/cgroup.procs"
	}
}

// asNobody is an unprivileged user who may have one process, and has it.
func asNobody(m *machine) {
	m.around = []string{"setpriv", "--reuid", "65534", "--clear-groups", "prlimit", "--nproc=1"}
	check(m.t, os.Chmod(filepath.Dir(m.folder), 0o755))
}

// timeIs makes salve-node this test program, at another time.
func timeIs(at string) preparing {
	return func(m *machine) {
		path := filepath.Join(m.folder, "salve-node")
		own, err := os.Executable()
		check(m.t, err)
		check(m.t, errors.Join(os.Remove(path), os.Symlink(own, path)))
		m.before = "export " + itsTime + "=" + at
		m.t.Cleanup(func() {
			if year := m.launched().Time.UTC().Format(time.RFC3339)[:4]; year != at[:4] {
				m.t.Errorf("the event is of %s", year)
			}
		})
	}
}
