//go:build unix

package cli

import "syscall"

// replaceProcess goes on as another program: same process, terminal and signals.
func replaceProcess(path string, arguments, environment []string) error {
	return syscall.Exec(path, arguments, environment)
}
