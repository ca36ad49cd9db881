package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// Marked are the processes of this machine that carry a mark, whatever group or
// session they are in: what commands that were run with it have left. Looked is
// whether it could be looked for at all. The processes of other users are not
// seen, and neither is one that has thrown its environment away.
func Marked(mark string) (found []Process, looked bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, false
	}
	want := []byte(markVariable + "=" + mark)
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environment, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if err != nil || !carries(environment, want) {
			continue
		}
		found = append(found, Process{PID: pid, Command: commandLine(pid)})
	}
	return found, true
}

func carries(environment, want []byte) bool {
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if bytes.Equal(variable, want) {
			return true
		}
	}
	return false
}
