package config

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"

	"go.yaml.in/yaml/v3"
)

// parsing is a file that is read and parsed at the moment, and what is to be taken from it then.
type parsing struct {
	name   string
	decode func(r *reader, root *yaml.Node)
	parsed <-chan parsed
}

// parsed is a file before anything is taken from it.
type parsed struct {
	reader *reader
	// root is nil where the file is empty or can't be parsed.
	root  *yaml.Node
	bytes int
	err   error
}

// file begins to read one file; what it says is taken in the order in which files were begun, however long each
// takes. As many are in memory at once as there are processors: what a file leaves there is what decode took.
func (l *loader) file(name string, decode func(r *reader, root *yaml.Node)) {
	l.read++
	if len(l.parsing) >= runtime.GOMAXPROCS(0) {
		l.decodeFirst()
	}
	result := make(chan parsed, 1)
	go func() { result <- l.parse(name) }()
	l.parsing = append(l.parsing, parsing{name, decode, result})
}

// parse only reads what the loader never changes: it runs beside it.
func (l *loader) parse(name string) parsed {
	content, err := fileContent(l.files, path.Clean(name))
	if err != nil {
		return parsed{err: err}
	}
	p := parsed{reader: &reader{file: l.position(name).File}, bytes: len(content)}
	if root, ok := p.reader.document(content); ok {
		p.root = root
	}
	return p
}

// decodeAll waits for all files that were begun.
func (l *loader) decodeAll() {
	for len(l.parsing) > 0 {
		l.decodeFirst()
	}
}

func (l *loader) decodeFirst() {
	first := l.parsing[0]
	l.parsing = l.parsing[1:]
	file := <-first.parsed
	if file.err != nil {
		l.missing(first.name, file.err)
		return
	}
	l.bytes += int64(file.bytes)
	r := file.reader
	if file.root != nil {
		first.decode(r, file.root)
	}
	l.found = append(l.found, r.found...)
	l.config.UnknownFields = append(l.config.UnknownFields, r.unknown...)
	l.incomplete = l.incomplete || r.unreadable
}

// fileContent is a file's, which may be compressed: the updateconfig plugin does that
// where a ConfigMap would grow too large.
func fileContent(files fs.FS, name string) ([]byte, error) {
	file, err := files.Open(name)
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
	if !bytes.HasPrefix(content, []byte("\x1f\x8b")) {
		return content, nil
	}
	if content, err = decompressed(content); err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return content, nil
}

func decompressed(content []byte) ([]byte, error) {
	archive, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return bounded(archive)
}

func bounded(from io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, maximumFile+1))
	if err == nil && len(content) > maximumFile {
		return nil, fmt.Errorf("more than %d bytes", maximumFile)
	}
	return content, err
}
