//go:build linux

package slot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"salve/internal/clock"
)

// ErrOtherProgram means that what is staged is not the program of the digest.
var ErrOtherProgram = errors.New("it is not the program that was verified")

// Program is the staged program, held open: whatever becomes of its name, it is the
// one that was verified.
type Program struct {
	File     *os.File
	Manifest Manifest
}

// Close lets go of it, and of whoever waits to write to it.
func (p Program) Close() { _ = p.File.Close() }

// Open verifies the program of a digest and gives it open, to be executed through its
// descriptor. As long as it is open nobody can write to it, where the file system has
// leases; somebody who is just writing is waited for, half a second at most.
func (s Slot) Open(ctx context.Context, digest string) (Program, error) {
	const tries, pause = 25, 20 * time.Millisecond
	for n := 1; ; n++ {
		program, err := s.openOnce(ctx, digest)
		if !errors.Is(err, syscall.ETXTBSY) || n == tries || clock.Sleep(ctx, clock.Real{}, pause) != nil {
			return program, err
		}
	}
}

func (s Slot) openOnce(ctx context.Context, digest string) (Program, error) {
	folder, name, err := s.open()
	if err != nil {
		return Program{}, err
	}
	defer folder.Close()
	manifest, err := readManifest(folder, name)
	if err != nil {
		return Program{}, err
	}
	file, info, err := folder.OpenRegular(name)
	if err != nil {
		return Program{}, err
	}
	program := Program{File: file, Manifest: manifest}
	if err := program.verify(ctx, info, digest); err != nil {
		program.Close()
		return Program{}, err
	}
	return program, nil
}

// verify reads all of it, while nobody writes.
func (p Program) verify(ctx context.Context, info os.FileInfo, digest string) error {
	if p.Manifest.SHA256 != digest {
		return ErrOtherProgram
	}
	if !executable(info) {
		return fmt.Errorf("it is %s", info.Mode())
	}
	if err := lease(p.File); err != nil {
		return err
	}
	if err := checkProgram(p.File, info.Size()); err != nil {
		return err
	}
	read, err := digestOf(until{ctx, p.File})
	switch {
	case err != nil:
		return err
	case read != digest:
		return ErrOtherProgram
	}
	return nil
}

// lease keeps writers waiting until the file is closed, 45 s at most, of whom most give
// up by themselves: once it is executed the kernel refuses them. A file system that has
// no leases has none; what is left then is the time from here to the start.
// https://man7.org/linux/man-pages/man2/F_GETLEASE.2const.html
func lease(file *os.File) error {
	const set, reading = 1024, syscall.F_RDLCK // F_SETLEASE
	_, _, number := syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), set, reading)
	if number == syscall.EAGAIN { // it is open for writing
		return syscall.ETXTBSY
	}
	return nil
}

// until is a reader that ends with a context.
type until struct {
	ctx  context.Context
	from io.Reader
}

func (u until) Read(into []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.from.Read(into)
}
