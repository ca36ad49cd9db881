package config

import (
	"bytes"
	"fmt"
	"io/fs"
	"time"
)

// Parse reads a configuration without jobs from the content of config.yaml. Name stands for the file in positions.
func Parse(name string, content []byte) Loaded {
	return Load(inMemory(content), Files{Config: name})
}

// Expand is the content of a file of the configuration, which may be compressed.
func Expand(content []byte) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte("\x1f\x8b")) {
		return content, nil
	}
	expanded, err := decompressed(content)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return expanded, nil
}

// inMemory is a file system with one file, whatever name is asked for.
type inMemory []byte

func (m inMemory) Open(string) (fs.File, error) { return &memoryFile{bytes.NewReader(m)}, nil }

// memoryFile is that file, opened. It is its own description.
type memoryFile struct{ *bytes.Reader }

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *memoryFile) Close() error               { return nil }
func (f *memoryFile) Name() string               { return "" }
func (f *memoryFile) Mode() fs.FileMode          { return 0 }
func (f *memoryFile) ModTime() time.Time         { return time.Time{} }
func (f *memoryFile) IsDir() bool                { return false }
func (f *memoryFile) Sys() any                   { return nil }
