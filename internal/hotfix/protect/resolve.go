//go:build linux

package protect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links on one way, as the kernel does.
const maxLinks = 40

// follow gives a path without links in its folders, and, where it is a link itself,
// the path that this leads to as well, and so on. What isn't there may come.
func follow(path string) (steps []string, err error) {
	for range maxLinks {
		// Not by package filepath, which would take «..» out before the link before it.
		slash := strings.LastIndexByte(strings.TrimRight(path, "/"), '/')
		name := path[slash+1:]
		if strings.Trim(name, "./") == "" {
			whole, err := resolve(path)
			return append(steps, whole), err
		}
		folder, err := resolve(path[:slash+1])
		if err != nil {
			return nil, err
		}
		path = filepath.Join(folder, name)
		steps = append(steps, path)
		target, err := os.Readlink(path)
		switch {
		case gone(err), errors.Is(err, syscall.EINVAL): // EINVAL: it is no link
			return steps, nil
		case err != nil:
			return nil, err
		}
		path = joined(folder, target)
	}
	return nil, &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
}

// resolve takes the links out of the path of a folder, which need not be there.
func resolve(folder string) (string, error) {
	resolved, rest := "/", strings.Split(folder, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			resolved = filepath.Dir(resolved)
			continue
		}
		path := filepath.Join(resolved, name)
		target, err := os.Readlink(path)
		switch {
		case gone(err), errors.Is(err, syscall.EINVAL):
			resolved = path
			continue
		case err != nil:
			return "", err
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: folder, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(target) {
			resolved = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return resolved, nil
}

func joined(folder, target string) string {
	if filepath.IsAbs(target) {
		return target
	}
	return folder + "/" + target // not cleaned: «..» may come behind a link
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// ancestor is something on the way to a path that is there.
type ancestor struct {
	identity
	rest string // the way on from it; empty for the path itself
}

// ancestors lists the path itself and the folders that it is in, as far as they are
// there.
func ancestors(path string) ([]ancestor, error) {
	var found []ancestor
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		switch {
		case err == nil:
			rest := strings.TrimPrefix(strings.TrimPrefix(path, at), "/")
			found = append(found, ancestor{identityOf(info), rest})
		case !gone(err):
			return nil, err
		}
		if at == "/" {
			return found, nil
		}
	}
}

func identityOf(info fs.FileInfo) identity {
	status, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return identity{}
	}
	return identity{status.Dev, status.Ino}
}
