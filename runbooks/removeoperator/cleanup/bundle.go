package cleanup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/runbook"
)

// Bundle is an export as the record of its run remembers it. The objects themselves are in a file, or in
// the run's exports: see Operator.Bundle.
type Bundle struct {
	Definitions int `json:"definitions"`
	// Objects counts the custom resources, Others what else is deleted.
	Objects int `json:"objects"`
	Others  int `json:"others"`
	// Namespace is the operator's, and which one it was; empty for none.
	Namespace    string    `json:"namespace,omitempty"`
	NamespaceUID types.UID `json:"namespaceUID,omitempty"`
	Bytes        int64     `json:"bytes"`
	SHA256       string    `json:"sha256"`
	// File is an absolute path, on the machine that made it; empty for a bundle in the run's exports.
	File string `json:"file,omitempty"`

	// content is the bundle itself, where it is not in a file.
	content []byte
	of      *Operator
}

// String counts what the bundle holds.
func (b Bundle) String() string {
	return count(b.Definitions, "CRD") + ", " + count(b.Objects, "custom resource") + ", and what else is deleted"
}

// bundleNote is where a run remembers its bundle.
const bundleNote = "bundle"

// ReadBackup reads the bundle of a run back from where it is kept, whole, and checks all that it names against
// what the operator is known by. It fails with class Missing when the run has none, and with *ForeignError when
// the bundle is not one of this operator.
func (o *Operator) ReadBackup(ctx context.Context, run runbook.Run) (Bundle, error) {
	bundle := Bundle{of: o}
	found, err := run.ReadBack(ctx, bundleNote, &bundle)
	switch {
	case err != nil:
		return Bundle{}, err
	case !found:
		return Bundle{}, apierr.New(apierr.Missing, "not found: the run has no bundle")
	}
	if err := o.checkBundle(bundle); err != nil {
		return Bundle{}, err
	}
	if bundle.File == "" {
		if bundle.content, err = readExport(ctx, run, bundle.Bytes); err != nil {
			return Bundle{}, err
		}
	}
	if err := bundle.verify(); err != nil {
		return Bundle{}, err
	}
	return bundle, nil
}

// ObserveBackup tells a step that exports whether it is done.
func (o *Operator) ObserveBackup(ctx context.Context, run runbook.Run) runbook.Observation {
	switch found, err := run.Recall(bundleNote, &Bundle{}); {
	case err != nil:
		return runbook.NotObserved(err)
	case !found:
		return runbook.NotStarted("the run has no bundle")
	}
	if _, err := o.ReadBackup(ctx, run); err != nil {
		return runbook.NotObserved(err)
	}
	return runbook.Done("the bundle was read back")
}

// verify reads the bundle back, and compares its digest and what it holds.
func (b Bundle) verify() error {
	found, digest := Bundle{}, sha256.New()
	if err := b.read(digest, func(entry Entry) error { found.add(entry.Role); return nil }); err != nil {
		return err
	}
	same := found.Definitions == b.Definitions && found.Objects == b.Objects && found.Others == b.Others
	if !same || hex.EncodeToString(digest.Sum(nil)) != b.SHA256 {
		return apierr.New(apierr.Terminal, "conflict: the bundle in %s is not the one that was written", b.where())
	}
	return nil
}

// add counts an entry.
func (b *Bundle) add(role Role) {
	switch role {
	case RoleDefinition:
		b.Definitions++
	case RoleObject:
		b.Objects++
	default:
		b.Others++
	}
}

func (b Bundle) where() string {
	if b.File == "" {
		return "the run's exports"
	}
	return b.File
}

// Each visits what the bundle holds, definitions first, and keeps one object.
func (b Bundle) Each(visit func(Entry) error) error { return b.read(io.Discard, visit) }

// read visits the entries while every byte is copied to a digest.
func (b Bundle) read(digest io.Writer, visit func(Entry) error) error {
	var from io.Reader = bytes.NewReader(b.content)
	if b.File != "" {
		file, err := os.Open(b.File)
		if err != nil {
			return apierr.New(apierr.Terminal, "reading the bundle on this machine: %w", err)
		}
		defer file.Close()
		from = io.LimitReader(file, largest)
	}
	copied := io.TeeReader(from, digest)
	if err := b.of.readEntries(copied, visit); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, copied)
	return err
}
