package kube

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"

	"salve/fault"
	"salve/runbook"
)

const (
	// inJournal is the size up to which a bundle is kept in the journal. There it is
	// a third larger, and the API server takes a megabyte for an object.
	inJournal = 512 << 10
	// largest is the size up to which a bundle is made at all.
	largest = 1 << 30
)

// ExportOptions say what is exported and where to.
type ExportOptions struct {
	// Run is written into the bundle's header, by which a run knows its own file.
	Run string
	// Group is that of the definitions: owners inside of it are taken off.
	Group string
	// Left is what there is to export.
	Left *Leftovers
	// File is where to keep it. Without one, what is too large for a journal is not
	// exported.
	File     string
	Progress func(runbook.Progress)
}

// Bundle is an export and where it is kept: here when it is small enough, and in
// the file where there is one.
type Bundle struct {
	Definitions int `json:"definitions"`
	Objects     int `json:"objects"`
	// Namespace is the operator's, and which one it was; empty for none.
	Namespace    string    `json:"namespace,omitempty"`
	NamespaceUID types.UID `json:"namespaceUID,omitempty"`
	Bytes        int64     `json:"bytes"`
	SHA256       string    `json:"sha256"`
	// File is an absolute path, on the machine that made it.
	File    string `json:"file,omitempty"`
	Content []byte `json:"content,omitempty"`
}

// Export writes definitions and their objects to a bundle and reads it back. Of
// objects that change meanwhile it holds some state that they were in.
func (c *Cluster) Export(ctx context.Context, options ExportOptions) (Bundle, error) {
	bundle := Bundle{Definitions: len(options.Left.Definitions)}
	if options.Left.Namespace != nil {
		bundle.Namespace, bundle.NamespaceUID = options.Left.Namespace.Name, options.Left.Namespace.UID
	}
	err := Afresh(func() error {
		to, err := openStore(options)
		if err != nil {
			return err
		}
		zipped := gzip.NewWriter(to)
		zipped.Comment = runMark + options.Run
		bundle.Objects, err = c.export(ctx, options.Group, options.Left.Definitions, zipped, c.newMeter(options.Left.Objects.Total, "exported", options.Progress))
		if err == nil {
			err = to.keep()
		}
		bundle.Bytes, bundle.SHA256, bundle.File, bundle.Content = to.size, hex.EncodeToString(to.digest.Sum(nil)), to.path, to.small
		return errors.Join(err, to.discard())
	})
	if err != nil {
		return Bundle{}, fmt.Errorf("exporting: %w", err)
	}
	if err := bundle.Verify(); err != nil || bundle.File == "" {
		return bundle, err
	}
	inFile := bundle
	inFile.Content = nil
	return bundle, inFile.Verify()
}

// bundleNote is where a run keeps its bundle, or which one it is.
const bundleNote = "bundle"

// Keep exports into the journal of a run, and reads it back from there.
func (c *Cluster) Keep(ctx context.Context, run runbook.Run, options ExportOptions) error {
	options.Run, options.Progress = run.ID(), run.Report
	bundle, err := c.Export(ctx, options)
	if err != nil {
		return err
	}
	if err := run.Note(ctx, bundleNote, bundle); err != nil {
		return err
	}
	_, err = Kept(ctx, run)
	return err
}

// Kept reads the bundle of a run back from where it is kept, whole. It fails, with
// class Missing, when the run has none.
func Kept(ctx context.Context, run runbook.Run) (Bundle, error) {
	var bundle Bundle
	found, err := run.ReadBack(ctx, bundleNote, &bundle)
	switch {
	case err != nil:
		return bundle, err
	case !found:
		return bundle, fault.New(fault.Missing, "the journal holds no bundle")
	}
	return bundle, bundle.Verify()
}

// ObserveKept tells a step that exports whether it is done.
func ObserveKept(ctx context.Context, run runbook.Run) (runbook.Observation, error) {
	_, err := Kept(ctx, run)
	if IsMissing(err) {
		return runbook.Observation{State: runbook.NotStarted, Reason: err.Error()}, nil
	}
	return runbook.Observation{State: runbook.Done, Reason: "the bundle was read back"}, err
}

// Verify reads the bundle back, from the journal where it is kept there, and
// compares its digest and what it holds.
func (b Bundle) Verify() error {
	found, digest := Bundle{}, sha256.New()
	err := b.read(digest, func(entry Entry) error {
		if entry.Definition != nil {
			found.Definitions++
		} else {
			found.Objects++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if hex.EncodeToString(digest.Sum(nil)) != b.SHA256 || found.Definitions != b.Definitions || found.Objects != b.Objects {
		where := "the journal"
		if b.Content == nil {
			where = b.File
		}
		return fault.New(fault.Terminal, "the bundle in %s is not the one that was written", where)
	}
	return nil
}

// Each visits what the bundle holds, definitions first, and keeps one object.
func (b Bundle) Each(visit func(Entry) error) error { return b.read(io.Discard, visit) }

// read visits the entries while every byte is copied to a digest.
func (b Bundle) read(digest io.Writer, visit func(Entry) error) error {
	var from io.Reader = bytes.NewReader(b.Content)
	if b.Content == nil {
		file, err := os.Open(b.File)
		if err != nil {
			return fault.New(fault.Terminal, "the bundle can't be read on this machine: %w", err)
		}
		defer file.Close()
		from = file
	}
	copied := io.TeeReader(from, digest)
	if err := readBundle(copied, visit); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, copied)
	return err
}

// runMark stands before a run's name in the comment of a bundle's gzip header.
const runMark = "salve run "

// store takes a bundle as it is written.
type store struct {
	path, partial string
	file          *os.File
	// small is the whole bundle while it fits into a journal; nil from then on.
	small  []byte
	digest hash.Hash
	size   int64
}

func openStore(options ExportOptions) (*store, error) {
	s := &store{small: []byte{}, digest: sha256.New()}
	if options.File == "" {
		return s, nil
	}
	path, err := filepath.Abs(options.File)
	if err == nil {
		err = overwritable(path, options.Run)
	}
	if err != nil {
		return nil, err
	}
	s.path, s.partial = path, path+".partial"
	s.file, err = os.OpenFile(s.partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	return s, err
}

// overwritable fails when there is a file that this run did not make.
func overwritable(path, run string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if header, err := gzip.NewReader(file); err == nil && header.Comment == runMark+run {
		return nil
	}
	return fault.New(fault.Terminal, "%s is there already, and is not this run's: name another file for the bundle", path)
}

// Write keeps what it is given, as far as there is room.
func (s *store) Write(some []byte) (int, error) {
	s.size += int64(len(some))
	s.digest.Write(some)
	if s.small = append(s.small, some...); s.size > inJournal {
		s.small = nil
	}
	switch {
	case s.size > largest:
		return 0, fault.New(fault.Terminal, "the bundle is larger than %d MiB", largest>>20)
	case s.file != nil:
		return s.file.Write(some)
	case s.size > inJournal:
		return 0, fault.New(fault.Terminal, "the bundle is larger than the %d KiB that are kept in the journal: name a file for it (--bundle)", inJournal>>10)
	}
	return len(some), nil
}

// keep makes the file durable under its name.
func (s *store) keep() error {
	if s.file == nil {
		return nil
	}
	if err := errors.Join(s.file.Sync(), os.Rename(s.partial, s.path)); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// discard closes the file, and removes it unless it was kept.
func (s *store) discard() error {
	if s.file == nil {
		return nil
	}
	err := os.Remove(s.partial)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, s.file.Close())
}
