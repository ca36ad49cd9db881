package journal

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"salve/internal/apierr"
)

// keyFile keeps one key for all runbooks in a file of its owner alone.
type keyFile struct {
	disk disk
	// path is for people, name is in the disk.
	path, name string
}

func newKeyFile(path string) keyFile {
	return keyFile{disk: folder(filepath.Dir(path)), path: path, name: filepath.Base(path)}
}

// Key reads the key. A file that others may read or have made is refused.
func (k keyFile) Key(_ context.Context, runbook string) (Key, error) {
	info, err := k.disk.Lstat(k.name)
	if errors.Is(err, fs.ErrNotExist) {
		err = &apierr.Error{Class: apierr.Missing, Err: errors.New("not found")}
		return Key{}, &KeyError{Runbook: runbook, Where: k.path, Err: err,
			Hint: "set SALVE_JOURNAL_KEY_FILE to the key file that the journal was written with"}
	}
	hint := ""
	if err == nil {
		hint, err = k.private(info)
	}
	var raw []byte
	if err == nil {
		raw, err = readBounded(k.disk, k.name, 2*KeySize+1)
	}
	if err != nil {
		return Key{}, &KeyError{Runbook: runbook, Where: k.path, Err: err, Hint: hint}
	}
	secret, err := hex.DecodeString(strings.TrimSuffix(string(raw), "\n"))
	if err == nil {
		var key Key
		if key, err = NewKey(secret); err == nil {
			return key, nil
		}
	}
	return Key{}, &KeyError{Runbook: runbook, Where: k.path, Err: fmt.Errorf("not a key file: %w", err)}
}

// private tells why a key file is not its owner's alone, and what to do about that.
func (k keyFile) private(info fs.FileInfo) (hint string, err error) {
	if kind := kindOf(info); kind != "" {
		return "find out who put it there; SALVE_JOURNAL_KEY_FILE has to name the key file itself, of mode 0600",
			fmt.Errorf("not a regular file, but a %s", kind)
	}
	return ownersAlone(k.path, info)
}

// MakeKey makes the file when it is missing. Of several processes that do so at
// once, one makes it and all read it: it gets its name when it is complete.
func (k keyFile) MakeKey(ctx context.Context, runbook string) (Key, error) {
	key, err := k.Key(ctx, runbook)
	if err == nil || apierr.ClassOf(err) != apierr.Missing {
		return key, err
	}
	made, secret := RandomKey()
	if err := k.write(k.name+"."+made.ID(), hex.EncodeToString(secret)+"\n"); err != nil {
		return Key{}, &KeyError{Runbook: runbook, Where: k.path, Err: err,
			Hint: "set SALVE_JOURNAL_KEY_FILE to a file in a folder that can be written"}
	}
	return k.Key(ctx, runbook)
}

func (k keyFile) write(next, content string) error {
	if err := k.disk.Make(); err != nil {
		return err
	}
	if err := writeNew(k.disk, next, []byte(content)); err != nil {
		return err
	}
	err := k.disk.Link(next, k.name)
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was quicker
	}
	return errors.Join(err, k.disk.Remove(next), k.disk.SyncDir("."))
}
