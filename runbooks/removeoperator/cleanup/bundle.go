package cleanup

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// ExportOptions say what is exported and where to.
type ExportOptions struct {
	// Run is written into the bundle's header, by which a run knows its own file.
	Run string
	// Left is what there is to export.
	Left *Reading
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
func (o *Operator) Export(ctx context.Context, options ExportOptions) (Bundle, error) {
	bundle := Bundle{Definitions: len(options.Left.Definitions)}
	if options.Left.Namespace != nil {
		bundle.Namespace, bundle.NamespaceUID = options.Left.Namespace.Name, options.Left.Namespace.UID
	}
	err := kube.RetryExpired(func() error {
		to, err := openStore(options)
		if err != nil {
			return err
		}
		zipped := gzip.NewWriter(to)
		zipped.Comment = runMark + options.Run
		bundle.Objects, err = o.export(ctx, options.Left.Definitions, zipped, o.newMeter(options.Left.Objects.Total, "exported", options.Progress))
		if err == nil {
			err = to.keep()
		}
		bundle.Bytes, bundle.SHA256, bundle.File, bundle.Content = to.size, hex.EncodeToString(to.digest.Sum(nil)), to.path, to.small
		return errors.Join(err, to.discard())
	})
	if err != nil {
		return Bundle{}, fmt.Errorf("exporting: %w", err)
	}
	if err := bundle.verify(); err != nil || bundle.File == "" {
		return bundle, err
	}
	inFile := bundle
	inFile.Content = nil
	return bundle, inFile.verify()
}

// String counts what the bundle holds.
func (b Bundle) String() string {
	return count(b.Definitions, "CRD") + " and " + count(b.Objects, "object")
}

// bundleNote is where a run keeps its bundle, or which one it is.
const bundleNote = "bundle"

// Keep exports what was read into the journal of a run and, where one is named, a
// file, and reads it back from there.
func (o *Operator) Keep(ctx context.Context, run runbook.Run, left *Reading, file string) error {
	bundle, err := o.Export(ctx, ExportOptions{Run: run.ID(), Left: left, File: file, Progress: run.Report})
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
		return bundle, apierr.New(apierr.Missing, "the journal holds no bundle")
	}
	return bundle, bundle.verify()
}

// ObserveKept tells a step that exports whether it is done.
func ObserveKept(ctx context.Context, run runbook.Run) runbook.Observation {
	_, err := Kept(ctx, run)
	if kube.IsNotFound(err) {
		return runbook.NotStarted("%s", err.Error())
	}
	if err != nil {
		return runbook.NotObserved(err)
	}
	return runbook.Done("the bundle was read back")
}

// verify reads the bundle back, from the journal where it is kept there, and
// compares its digest and what it holds.
func (b Bundle) verify() error {
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
		return apierr.New(apierr.Terminal, "the bundle in %s is not the one that was written", where)
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
			return apierr.New(apierr.Terminal, "the bundle can't be read on this machine: %w", err)
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
