//go:build linux

package payload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"salve/internal/hotfix/writefiles"
)

// The bounds of a payload.
const (
	MaxDocument = 8 << 20  // bytes of the YAML document
	MaxFiles    = 500      //
	MaxFile     = 8 << 20  // bytes of one file, decoded
	MaxTotal    = 64 << 20 // bytes of all files, decoded
	maxPath     = 1024
	maxName     = 200
)

// Permissions where a file gives none: cloud-init's default.
const defaultMode fs.FileMode = 0o644

// File is one file of a payload.
type File struct {
	Path    string // absolute and clean
	Mode    fs.FileMode
	Content []byte
}

// Payload is a set of files that belong together.
type Payload struct{ Files []File }

// Read is Parse on a file, of which it reads no more than a payload may have.
func Read(ctx context.Context, path string, allowed []string) (Payload, error) {
	file, err := os.Open(path)
	if err != nil {
		return Payload{}, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, MaxDocument+1))
	if err != nil {
		return Payload{}, err
	}
	return Parse(ctx, raw, allowed)
}

// Parse reads a payload, which may go below the allowed folders only. An error
// names the entry; nothing of a payload with an error is to be used. The document is
// that of cloud-init's module write_files, and nothing more of it.
// https://cloudinit.readthedocs.io/en/latest/reference/modules.html#write-files
func Parse(ctx context.Context, raw []byte, allowed []string) (Payload, error) {
	if len(raw) > MaxDocument {
		return Payload{}, fmt.Errorf("the document is larger than %d bytes", MaxDocument)
	}
	entries, err := writefiles.Read(raw, MaxFiles)
	if err != nil {
		return Payload{}, fmt.Errorf("not a write_files document: %w", err)
	}
	if len(entries) == 0 {
		return Payload{}, errors.New("write_files names no file")
	}
	payload := Payload{Files: make([]File, 0, len(entries))}
	total := 0
	for i, one := range entries {
		if ctx.Err() != nil {
			return Payload{}, fmt.Errorf("reading the payload: %w", context.Cause(ctx))
		}
		file, err := fileOf(one, allowed)
		if err != nil {
			return Payload{}, fmt.Errorf("write_files[%d] (%.100q): %w", i, one.Path.Value, err)
		}
		if total += len(file.Content); total > MaxTotal {
			return Payload{}, fmt.Errorf("the files have more than %d bytes together", MaxTotal)
		}
		payload.Files = append(payload.Files, file)
	}
	return payload, payload.checkPaths()
}

func fileOf(e writefiles.Entry, allowed []string) (File, error) {
	if err := checkPath(e.Path.Value, allowed); err != nil {
		return File{}, err
	}
	if owner := e.Owner.Value; owner != "" && owner != "root" && owner != "root:root" {
		return File{}, fmt.Errorf("owner %.60q: it has to be root", owner)
	}
	mode, err := modeOf(e.Permissions)
	if err != nil {
		return File{}, err
	}
	content, err := decode(e.Content.Value, e.Encoding.Value)
	if err != nil {
		return File{}, err
	}
	return File{Path: e.Path.Value, Mode: mode, Content: content}, nil
}

// modeOf reads permissions. They come as a text: YAML reads 0644 without quotes as a
// number, and which one depends on the reader.
func modeOf(permissions writefiles.Text) (fs.FileMode, error) {
	if !permissions.Given() {
		return defaultMode, nil
	}
	bits, err := strconv.ParseUint(permissions.Value, 8, 16)
	if err != nil || bits > 0o777 || len(permissions.Value) > 4 {
		return 0, fmt.Errorf("permissions %.20q: they have to be octal, at most 0777", permissions.Value)
	}
	return fs.FileMode(bits), nil
}

func checkPath(name string, allowed []string) error {
	switch {
	case !path.IsAbs(name):
		return errors.New("the path has to be absolute")
	case path.Clean(name) != name:
		return errors.New("the path has to be clean: without «..», «.» or a doubled «/»")
	case len(name) > maxPath || len(path.Base(name)) > maxName:
		return errors.New("the path is too long")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("the path holds a control character")
	}
	for _, folder := range allowed {
		if below(name, folder) {
			return nil
		}
	}
	return fmt.Errorf("the path is not below one of the allowed folders %s", strings.Join(allowed, ", "))
}

func below(name, folder string) bool {
	return strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// checkPaths refuses files that are in each other's way.
func (p Payload) checkPaths() error {
	taken := map[string]bool{}
	for _, file := range p.Files {
		if taken[file.Path] {
			return fmt.Errorf("%s is given twice", file.Path)
		}
		taken[file.Path] = true
	}
	for _, file := range p.Files {
		for folder := path.Dir(file.Path); folder != "/"; folder = path.Dir(folder) {
			if taken[folder] {
				return fmt.Errorf("%s is to be a file, and the folder of %s", folder, file.Path)
			}
		}
		if folder, name := path.Split(file.Path); taken[folder+unfinished(name)] {
			return fmt.Errorf("%s is the name under which %s is written first", folder+unfinished(name), file.Path)
		}
	}
	return nil
}
