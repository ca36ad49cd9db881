package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unicode"
)

// ownGroup begins a process group, whose leader the kernel kills when the thread
// that started it ends, as it does when its program is killed; see holdThread.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// holdThread keeps the thread that starts a command for the one who waits for it,
// so that no other goroutine can end the thread, and the command with it.
func holdThread() (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// members are the processes of a group that have not ended. One that has ended, and
// that its parent has not looked at, is still of the group for kill(2), which may
// be for ever.
func members(group int) []Process {
	if err := syscall.Kill(-group, 0); errors.Is(err, syscall.ESRCH) {
		return nil
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []Process
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && isMember(stat, group) {
			found = append(found, Process{PID: pid, Command: commandLine(pid)})
		}
	}
	return found
}

// isMember reads a line of proc_pid_stat(5): behind the name, which is in
// parentheses and may hold any others, come the state, the parent and the group.
func isMember(stat []byte, group int) bool {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return len(fields) > 2 && fields[2] == strconv.Itoa(group) && !strings.Contains("ZXx", fields[0])
}

// commandLine is the command line of a process, for people: without the zeros
// between its words, and without what a terminal would obey instead of show.
func commandLine(pid int) string {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, string(line)))
}
