package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Paths name the files of a configuration on this machine.
type Paths struct {
	// Config is the path of config.yaml, Jobs that of the jobs' folder or file, which may be empty, and Supplemental
	// those of folders with shards.
	Config, Jobs string
	Supplemental []string
}

// Absolute names the same files from whatever folder.
func (p Paths) Absolute() (Paths, error) {
	p.Supplemental = slices.Clone(p.Supplemental)
	all := []*string{&p.Config, &p.Jobs}
	for i := range p.Supplemental {
		all = append(all, &p.Supplemental[i])
	}
	for _, name := range all {
		if *name == "" {
			continue
		}
		whole, err := filepath.Abs(*name)
		if err != nil {
			return p, fmt.Errorf("path %q: %w", *name, err)
		}
		*name = whole
	}
	return p, nil
}

// Read reads them. The digest stands for all files that were read, wherever they are. The error is an *Error when Prow
// would not run with them.
func (p Paths) Read() (_ *Config, digest string, _ error) {
	p, err := p.Absolute()
	if err != nil {
		return nil, "", err
	}
	inRoot := func(name string) string { return strings.TrimPrefix(filepath.ToSlash(name), "/") }
	names := Files{Config: inRoot(p.Config), Root: "/"}
	if p.Jobs != "" {
		names.Jobs = inRoot(p.Jobs)
	}
	for _, folder := range p.Supplemental {
		names.Supplemental = append(names.Supplemental, inRoot(folder))
	}
	files := &summing{FS: os.DirFS("/"), sums: map[string]string{}}
	loaded, err := Load(files, names).Config()
	if err != nil {
		return nil, "", err
	}
	return loaded, files.digest(), nil
}

// summing is a file system that remembers the digest of each file that was read to its end.
type summing struct {
	fs.FS
	lock sync.Mutex
	sums map[string]string
}

// Open opens a file, whose content counts.
func (s *summing) Open(name string) (fs.File, error) {
	file, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if info.IsDir() {
		return file, nil
	}
	return &summed{File: file, name: name, sum: sha256.New(), keep: s.keep}, nil
}

func (s *summing) keep(name string, sum []byte) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.sums[name] = hex.EncodeToString(sum)
}

// digest is the same wherever the files are.
func (s *summing) digest() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	var lines []string
	for name, sum := range s.sums {
		lines = append(lines, sum+" "+path.Base(name))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

type summed struct {
	fs.File
	name string
	sum  hash.Hash
	keep func(name string, sum []byte)
}

// Read reads, and keeps the digest at the end.
func (s *summed) Read(into []byte) (int, error) {
	n, err := s.File.Read(into)
	_, _ = s.sum.Write(into[:n]) // it never fails
	if errors.Is(err, io.EOF) {
		s.keep(s.name, s.sum.Sum(nil))
	}
	return n, err
}
