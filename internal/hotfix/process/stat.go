//go:build linux

package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// stat is what /proc says of a process, https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html.
type stat struct {
	pid, parent int
	state       byte
	started     uint64 // in ticks since the machine's boot
}

// startTime is when a process was started; 0 if that can't be told.
func startTime(pid int) uint64 { return statOf(pid).started }

// Started is when a process was started, in the kernel's ticks; 0 when there is none, or none that can be told of.
// With the ID it names one process among all of a boot.
func Started(pid int) uint64 {
	if one := statOf(pid); one.state != 'Z' {
		return one.started
	}
	return 0
}

func statOf(pid int) stat {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}
	}
	// The name is in parentheses, and may hold some.
	behind := bytes.LastIndexByte(raw, ')')
	fields := strings.Fields(string(raw[behind+1:]))
	if behind < 0 || len(fields) < 20 {
		return stat{}
	}
	parent, _ := strconv.Atoi(fields[1])                // 0, which is no process's parent of ours
	started, _ := strconv.ParseUint(fields[19], 10, 64) // the same
	return stat{pid: pid, parent: parent, state: fields[0][0], started: started}
}

// below lists the descendants of this process whose eldest below it is meant.
func below(meant func(child stat) bool) []int {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1) // what it gave before an error counts
	children := map[int][]stat{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			one := statOf(pid)
			children[one.parent] = append(children[one.parent], one)
		}
	}
	var found []int
	for _, child := range children[os.Getpid()] {
		if meant(child) {
			found = append(found, child.pid)
		}
	}
	for i := 0; i < len(found); i++ {
		for _, child := range children[found[i]] {
			found = append(found, child.pid)
		}
	}
	return found
}
