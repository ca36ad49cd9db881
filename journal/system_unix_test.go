//go:build unix

package journal

import "syscall"

// MakePipe makes a named pipe, for tests.
func MakePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// umask sets the mask of new files, until what it returns is called.
func umask(mask int) (restore func()) {
	before := syscall.Umask(mask)
	return func() { syscall.Umask(before) }
}
