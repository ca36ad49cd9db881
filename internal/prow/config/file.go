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

	"salve/internal/prow/plainyaml"
)

// decoder takes from a file's root what it says, beside other files; the function that it returns adds that to the
// configuration, one file after the other.
type decoder func(r *reader, root *yaml.Node) (add func())

// inTurn decodes a file when it is added.
func inTurn(decode func(r *reader, root *yaml.Node)) decoder {
	return func(r *reader, root *yaml.Node) func() { return func() { decode(r, root) } }
}

// decoding is a file that is read at the moment.
type decoding struct {
	name    string
	decoded <-chan decoded
}

// decoded is a file before it is added to the configuration.
type decoded struct {
	reader *reader
	// add is nil where the file is empty or can't be parsed.
	add   func()
	bytes int
	err   error
}

// file begins to read one file; what it says is added in the order in which files were begun, however long each takes.
// As many are in memory at once as there are processors: what a file leaves there is what was decoded of it.
func (l *loader) file(name string, decode decoder) {
	l.read++
	if len(l.decoding) >= runtime.GOMAXPROCS(0) {
		l.addFirst()
	}
	result := make(chan decoded, 1)
	go func() { result <- l.decode(name, decode) }()
	l.decoding = append(l.decoding, decoding{name, result})
}

// decode only reads what the loader never changes: it runs beside it.
func (l *loader) decode(name string, decode decoder) decoded {
	content, err := fileContent(l.files, path.Clean(name))
	if err != nil {
		return decoded{err: err}
	}
	d := decoded{reader: &reader{file: l.position(name).File, plain: l.plain()}, bytes: len(content)}
	if root, ok := d.reader.document(content); ok {
		d.add = decode(d.reader, root)
	}
	return d
}

// plain is one that no file uses any more: what was decoded keeps no nodes.
func (l *loader) plain() *plainyaml.Reader {
	if unused, ok := l.unused.Get().(*plainyaml.Reader); ok {
		return unused
	}
	return &plainyaml.Reader{}
}

// addAll waits for all files that were begun.
func (l *loader) addAll() {
	for len(l.decoding) > 0 {
		l.addFirst()
	}
}

func (l *loader) addFirst() {
	first := l.decoding[0]
	l.decoding = l.decoding[1:]
	file := <-first.decoded
	if file.err != nil {
		l.missing(first.name, file.err)
		return
	}
	l.bytes += int64(file.bytes)
	if file.add != nil {
		file.add()
	}
	r := file.reader
	l.unused.Put(r.plain)
	l.found = append(l.found, r.found...)
	if r.more > 0 {
		r.worst.Message = fmt.Sprintf("%d more findings in this file, of which this is one of the worst", r.more)
		l.found = append(l.found, r.worst)
	}
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
	content, err := bounded(file, info.Size())
	if err != nil {
		return nil, err
	}
	return Expand(content)
}

func decompressed(content []byte) ([]byte, error) {
	archive, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return bounded(archive, 0)
}

// bounded reads to the end. About is how much there is, as far as one knows.
func bounded(from io.Reader, about int64) ([]byte, error) {
	content := bytes.NewBuffer(make([]byte, 0, min(max(about, 0), maximumFile)+bytes.MinRead))
	_, err := content.ReadFrom(io.LimitReader(from, maximumFile+1))
	if err == nil && content.Len() > maximumFile {
		return nil, fmt.Errorf("more than %d bytes", maximumFile)
	}
	return content.Bytes(), err
}
