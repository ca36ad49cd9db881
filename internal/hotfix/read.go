package hotfix

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// UnusableError says why there is no pointer to decide by.
type UnusableError struct {
	Reason Reason
	Err    error
}

func (e *UnusableError) Error() string { return e.Err.Error() }
func (e *UnusableError) Unwrap() error { return e.Err }

// ReadPointer reads a pointer file. Its errors are all *UnusableError.
func ReadPointer(path string) (Pointer, error) {
	raw, err := Contents(path)
	return PointerOf(path, raw, err)
}

// PointerOf makes a pointer of what reading its file gave. Its errors are all *UnusableError.
func PointerOf(path string, raw []byte, err error) (Pointer, error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Pointer{}, &UnusableError{ReasonNoPointer, err}
	case err != nil:
		return Pointer{}, &UnusableError{ReasonUnreadablePointer, err}
	case len(bytes.TrimSpace(raw)) == 0:
		return Pointer{}, &UnusableError{ReasonEmptyPointer, fmt.Errorf("%s is empty", path)}
	}
	pointer, err := ParsePointer(raw)
	if err != nil {
		return Pointer{}, &UnusableError{ReasonMalformedPointer, fmt.Errorf("%s: %w", path, err)}
	}
	return pointer, nil
}

// DecideByFile is Decide on a pointer file, whatever the state it is in.
func DecideByFile(current, path string) Decision {
	pointer, err := ReadPointer(path)
	return DecideRead(Node{Version: current}, pointer, err)
}

// DecideRead is DecideFor on what ReadPointer gave.
func DecideRead(node Node, pointer Pointer, err error) Decision {
	if err == nil {
		return DecideFor(node, pointer)
	}
	reason := ReasonUnreadablePointer
	var unusable *UnusableError
	if errors.As(err, &unusable) {
		reason = unusable.Reason
	}
	decision := none(node.Version, reason)
	if reason != ReasonNoPointer {
		decision.Warnings = []Warning{{Field: "", Problem: err.Error()}}
	}
	return decision
}

func none(current string, reason Reason) Decision {
	return Decision{
		SchemaVersion: 1,
		Current:       bounded(strings.TrimSpace(current)),
		Action:        None,
		Scripts:       Scripts{Action: None},
		Reason:        reason,
		Warnings:      []Warning{},
	}
}

// bounded keeps a current version that is none from filling the log.
func bounded(text string) string {
	const enough = 200
	if len(text) <= enough {
		return text
	}
	return strings.ToValidUTF8(text[:enough], "") + "…"
}

// Contents reads a pointer file by the bounds of ReadPointer, as it is.
func Contents(path string) ([]byte, error) { return ReadRegular(path, MaxPointerSize) }

// ReadRegular reads a regular file of at most limit bytes. It never waits, and opens nothing else: a pipe in its place,
// or a link to one of the kernel's files, would hold up the boot, and to open a watchdog is to start it.
func ReadRegular(path string, limit int64) ([]byte, error) {
	seen, err := os.Stat(path)
	if err == nil {
		err = checkRegular(path, seen, limit)
	}
	if err != nil || seen.Size() == 0 { // the kernel's files that wait for something to say have no size
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	opened, err := file.Stat()
	if err == nil {
		err = checkRegular(path, opened, limit)
	}
	if err != nil || opened.Size() == 0 {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(raw)) > limit:
		return nil, tooLarge(path, limit)
	}
	return raw, nil
}

func checkRegular(path string, info fs.FileInfo, limit int64) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case info.Size() > limit:
		return tooLarge(path, limit)
	}
	return nil
}

func tooLarge(path string, limit int64) error {
	return fmt.Errorf("%s is larger than %d bytes", path, limit)
}
