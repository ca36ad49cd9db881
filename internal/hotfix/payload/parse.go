package payload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
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

// The document is the module write_files of cloud-init's, and nothing more of it:
// what isn't known here can't be left out silently.
// https://cloudinit.readthedocs.io/en/latest/reference/modules.html#write-files
type document struct {
	WriteFiles []entry `yaml:"write_files"`
}

type entry struct {
	Path        string    `yaml:"path"`
	Permissions yaml.Node `yaml:"permissions"`
	Owner       string    `yaml:"owner"`
	Encoding    string    `yaml:"encoding"`
	Content     string    `yaml:"content"`
}

// Read is Parse on a file, of which it reads no more than a payload may have.
func Read(path string, allowed []string) (Payload, error) {
	file, err := os.Open(path)
	if err != nil {
		return Payload{}, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, MaxDocument+1))
	if err != nil {
		return Payload{}, err
	}
	return Parse(raw, allowed)
}

// Parse reads a payload, which may go below the allowed folders only. An error
// names the entry; nothing of a payload with an error is to be used.
func Parse(raw []byte, allowed []string) (Payload, error) {
	if len(raw) > MaxDocument {
		return Payload{}, fmt.Errorf("the document is larger than %d bytes", MaxDocument)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	var given document
	if err := decoder.Decode(&given); err != nil {
		return Payload{}, fmt.Errorf("not a write_files document: %w", err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Payload{}, errors.New("something follows the first YAML document")
	}
	switch {
	case len(given.WriteFiles) == 0:
		return Payload{}, errors.New("write_files names no file")
	case len(given.WriteFiles) > MaxFiles:
		return Payload{}, fmt.Errorf("write_files names %d files, more than %d", len(given.WriteFiles), MaxFiles)
	}
	var payload Payload
	total := 0
	for i, one := range given.WriteFiles {
		file, err := one.file(allowed)
		if err != nil {
			return Payload{}, fmt.Errorf("write_files[%d] (%.100q): %w", i, one.Path, err)
		}
		if total += len(file.Content); total > MaxTotal {
			return Payload{}, fmt.Errorf("the files have more than %d bytes together", MaxTotal)
		}
		payload.Files = append(payload.Files, file)
	}
	return payload, payload.checkPaths()
}

func (e entry) file(allowed []string) (File, error) {
	if err := checkPath(e.Path, allowed); err != nil {
		return File{}, err
	}
	if e.Owner != "" && e.Owner != "root" && e.Owner != "root:root" {
		return File{}, fmt.Errorf("owner %.60q: it has to be root", e.Owner)
	}
	mode, err := e.mode()
	if err != nil {
		return File{}, err
	}
	content, err := decode(e.Content, e.Encoding)
	if err != nil {
		return File{}, err
	}
	return File{Path: e.Path, Mode: mode, Content: content}, nil
}

// mode insists on a text: YAML reads 0644 without quotes as a number, and which
// one depends on the reader.
func (e entry) mode() (fs.FileMode, error) {
	if e.Permissions.IsZero() {
		return defaultMode, nil
	}
	if e.Permissions.Kind != yaml.ScalarNode || e.Permissions.Tag != "!!str" {
		return 0, fmt.Errorf("line %d: permissions have to be a text such as '0755', in quotes", e.Permissions.Line)
	}
	bits, err := strconv.ParseUint(e.Permissions.Value, 8, 16)
	if err != nil || bits > 0o777 || len(e.Permissions.Value) > 4 {
		return 0, fmt.Errorf("permissions %.20q: they have to be octal, at most 0777", e.Permissions.Value)
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
