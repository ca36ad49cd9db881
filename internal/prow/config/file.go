package config

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"

	"go.yaml.in/yaml/v3"
)

// file reads one file and decodes it. What it leaves in memory is what decode took
// from it.
func (l *loader) file(name string, decode func(r *reader, root *yaml.Node)) {
	l.read++
	content, err := l.content(path.Clean(name))
	if err != nil {
		l.missing(name, err)
		return
	}
	l.decode(name, content, decode)
}

// decode decodes the content of a file.
func (l *loader) decode(name string, content []byte, decode func(r *reader, root *yaml.Node)) {
	r := &reader{file: l.position(name).File}
	if root, ok := r.document(content); ok {
		decode(r, root)
	}
	l.found = append(l.found, r.found...)
	l.config.UnknownFields = append(l.config.UnknownFields, r.unknown...)
	l.incomplete = l.incomplete || r.unreadable
}

// content is a file's, which may be compressed: the updateconfig plugin does that
// where a ConfigMap would grow too large.
func (l *loader) content(name string) ([]byte, error) {
	file, err := l.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("is a directory")}
	}
	content, err := bounded(file)
	if err != nil {
		return nil, err
	}
	if content, err = Expand(content); err != nil {
		return nil, err
	}
	l.bytes += int64(len(content))
	return content, nil
}

// Expand is the content of a file of the configuration, which may be compressed.
func Expand(content []byte) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte("\x1f\x8b")) {
		return content, nil
	}
	archive, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		content, err = bounded(archive)
	}
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return content, nil
}

func bounded(from io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, maximumFile+1))
	if err == nil && len(content) > maximumFile {
		return nil, fmt.Errorf("more than %d bytes", maximumFile)
	}
	return content, err
}
