//go:build linux

package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// cgroup is a control group of version 2 below this process's own. All its methods do
// nothing where there is none: most of what it does is done on other ways too.
type cgroup struct {
	path   string
	folder *os.File
}

// CgroupName is how the group is called that the process of an ID makes.
func CgroupName(pid int) string { return "salve-node-" + strconv.Itoa(pid) }

// newCgroup makes a group, where systemd has delegated ours: elsewhere the tree is
// not ours to change. https://systemd.io/CGROUP_DELEGATION/
func newCgroup() *cgroup {
	own := ownCgroup()
	if own == "" || !delegated(own) {
		return nil
	}
	path := filepath.Join(own, CgroupName(os.Getpid()))
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // G301: as all of them
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return nil
	}
	return &cgroup{path: path, folder: folder}
}

// ownCgroup is the path of this process's group of version 2, "" if there is none.
func ownCgroup() string {
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		name, is := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !is || name == "/" {
			continue
		}
		for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} { // alone, or beside version 1
			var of syscall.Statfs_t
			const magic = 0x63677270 // CGROUP2_SUPER_MAGIC of statfs(2)
			if path := filepath.Join(mount, name); syscall.Statfs(path, &of) == nil && of.Type == magic {
				return path
			}
		}
	}
	return ""
}

func delegated(path string) bool {
	for _, mark := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		if size, err := syscall.Getxattr(path, mark, value); err == nil && bytes.Equal(value[:size], []byte("1")) {
			return true
		}
	}
	return false
}

// start begins a process in the group. A kernel that can't (before 5.7), or doesn't want to, begins it outside.
func (c *cgroup) start(how *syscall.ProcAttr, begin func() (int, error)) (int, error) {
	if c == nil {
		return begin()
	}
	how.Sys.UseCgroupFD, how.Sys.CgroupFD = true, int(c.folder.Fd())
	pid, err := begin()
	if err == nil {
		return pid, nil
	}
	how.Sys.UseCgroupFD = false
	return begin()
}

// kill kills all who are in the group, at once where the kernel can (since 5.14).
func (c *cgroup) kill() {
	if c == nil || c.write("cgroup.kill", "1") == nil {
		return
	}
	raw, _ := os.ReadFile(filepath.Join(c.path, "cgroup.procs")) // those that are read are killed
	for line := range strings.Lines(string(raw)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (c *cgroup) write(name, value string) error {
	file, err := os.OpenFile(filepath.Join(c.path, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(value)
	return errors.Join(err, file.Close())
}

func (c *cgroup) populated() bool {
	if c == nil {
		return false
	}
	raw, err := os.ReadFile(filepath.Join(c.path, "cgroup.events"))
	return err == nil && bytes.Contains(raw, []byte("populated 1"))
}

// remove removes the group, unless somebody is in it.
func (c *cgroup) remove() {
	if c != nil {
		_ = c.folder.Close()
		_ = syscall.Rmdir(c.path)
	}
}
