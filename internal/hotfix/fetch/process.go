package fetch

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// killGrace is how long a package manager that has to end gets to end well.
	killGrace = time.Second
	// outputKept bounds what is kept of its output, in bytes from the end.
	outputKept = 64 << 10
)

// program is a package manager's command, run without a shell.
type program struct {
	path      string
	arguments []string
	folder    string
}

// environment is all that a package manager gets of ours: a proxy.
func environment(folder string) []string {
	clean := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LC_ALL=C", "HOME=" + folder, "TMPDIR=" + folder, "DEBIAN_FRONTEND=noninteractive",
	}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy"} {
		for _, name := range []string{name, strings.ToUpper(name)} {
			if value, set := os.LookupEnv(name); set {
				clean = append(clean, name+"="+value)
			}
		}
	}
	return clean
}

// lookPath finds a program in a search path.
func lookPath(searchPath, name string) (string, bool) {
	for _, folder := range filepath.SplitList(searchPath) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// tail keeps the end of what is written.
type tail struct{ bytes []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.bytes = append(t.bytes, p...)
	if extra := len(t.bytes) - outputKept; extra > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[extra:]...)
	}
	return len(p), nil
}
