//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"salve/internal/hotfix"
	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/slot"
	"salve/internal/hotfix/trust"
)

// authority is whom this node takes orders from: whoever may write its files, or the keys of a root of trust.
type authority struct {
	signed bool // a root of trust is there, whether or not it can be used
	root   trust.Trusted
	err    error // why it can't be used
}

// authority looks for the root of trust. Only where there certainly is none nothing has to be signed: what can't be
// looked at may be there.
func (n *node) authority() authority {
	raw, err := disk.ReadGuarded(n.settings.trustRoot, trust.MaxEnvelope)
	if errors.Is(err, fs.ErrNotExist) {
		return authority{}
	}
	found := authority{signed: true}
	if err == nil {
		found.root, err = trust.ParseTrusted(raw)
	}
	if err != nil {
		found.err = &hotfix.UnusableError{Reason: hotfix.ReasonUnusableRoot,
			Err: fmt.Errorf("root of trust %s: %w", n.settings.trustRoot, err)}
	}
	return found
}

// decide reads the pointer that counts on this node, and decides. Only where there is something to decide is the baked
// program asked for its version.
func (n *node) decide(ctx context.Context) (hotfix.Pointer, hotfix.Decision) {
	from := n.authority()
	pointer, err := n.readPointer(ctx, from)
	if err == nil {
		n.learnCurrent(ctx)
	}
	self := hotfix.Node{Version: n.settings.current}
	var unknown error
	if len(pointer.Canaries()) > 0 {
		self.ID, unknown = nodeID(n.settings.nodeID, machineUUID)
	}
	var decision hotfix.Decision
	switch {
	case err != nil:
		decision = hotfix.DecideRead(self, pointer, err)
	case from.signed:
		decision = hotfix.DecideSigned(self, pointer, runtime.GOARCH)
	default:
		decision = hotfix.DecideFor(self, pointer)
	}
	if unknown != nil && decision.Canary != nil {
		decision.Warnings = append(slices.Clone(decision.Warnings), hotfix.Warning{Problem: oneLine(unknown)})
	}
	n.signed, n.artifact = pointer.Provenance().Signed, signedFor(pointer, decision)
	if ignored, why := n.ignored(from); ignored != "" {
		decision.Warnings = append(decision.Warnings, hotfix.Warning{Problem: ignored + " is not looked at: " + why})
	}
	return pointer, decision
}

func (n *node) readPointer(ctx context.Context, from authority) (hotfix.Pointer, error) {
	switch {
	case from.err != nil:
		return hotfix.Pointer{}, from.err
	case from.signed:
		return n.readSigned(ctx, from.root)
	}
	raw, err := disk.ReadGuarded(n.settings.pointer, hotfix.MaxPointerSize)
	var unsafe *disk.UnsafeError
	if errors.As(err, &unsafe) {
		return hotfix.Pointer{}, &hotfix.UnusableError{Reason: hotfix.ReasonUnsafePointer,
			Err: fmt.Errorf("pointer %s: %w", n.settings.pointer, err)}
	}
	return hotfix.PointerOf(n.settings.pointer, raw, err)
}

// readSigned gives the pointer that the root's keys vouch for. Anybody may have written the file.
func (n *node) readSigned(ctx context.Context, root trust.Trusted) (hotfix.Pointer, error) {
	path := n.settings.signedPointer
	raw, err := hotfix.ReadRegular(path, trust.MaxBundle)
	if err != nil || len(strings.TrimSpace(string(raw))) == 0 {
		return hotfix.PointerOf(path, raw, err)
	}
	bundle, err := trust.ParseBundle(raw)
	if err != nil {
		return hotfix.Pointer{}, &hotfix.UnusableError{Reason: hotfix.ReasonMalformedPointer,
			Err: fmt.Errorf("%s: %w", path, err)}
	}
	var accepted trust.Accepted
	err = n.trusted().Update(ctx, func(seen trust.Memory, keep func(trust.Memory) error) error {
		chain, err := root.Follow(seen, bundle.Roots)
		if err != nil {
			return err
		}
		// A root that was seen stays seen, whatever comes of the pointer.
		if err := keep(chain.Memory()); err != nil {
			return err
		}
		if accepted, err = chain.Accept(bundle.Pointer, n.clock.Now()); err != nil {
			return err
		}
		return keep(accepted.Memory)
	})
	if err != nil {
		return hotfix.Pointer{}, err
	}
	return accepted.Pointer, nil
}

// trusted is where this node remembers what it has seen of roots and documents.
func (n *node) trusted() trust.Store {
	return trust.Store{Path: filepath.Join(n.settings.state, "trust"), Clock: n.clock}
}

// signedFor is the digest that is signed for the program that a decision wants.
func signedFor(pointer hotfix.Pointer, decision hotfix.Decision) string {
	target, err := hotfix.ParseVersion(decision.Wanted())
	if err != nil || !pointer.Provenance().Signed {
		return ""
	}
	artifact, _, err := pointer.ArtifactOf(target, runtime.GOARCH)
	if err != nil {
		return ""
	}
	return strings.ToLower(artifact.SHA256)
}

// ignored is the pointer of the other mode, if it is there: somebody expects that it counts.
func (n *node) ignored(from authority) (path, why string) {
	path, why = n.settings.signedPointer, "there is no root of trust "+n.settings.trustRoot
	if from.signed {
		path, why = n.settings.pointer, "this node follows signed pointers alone, for "+n.settings.trustRoot+" is there"
	}
	if _, err := os.Lstat(path); err != nil {
		return "", ""
	}
	return path, why
}

// levelOfDecision: that a node keeps to what is for all, because no canary reaches it, is for somebody to look at.
func levelOfDecision(decision hotfix.Decision) event.Level {
	return worse(levelOfReason(decision.Reason), levelOfReason(decision.Canary.Missed()))
}

// levelOfReason: a pointer that was there and was not followed is for somebody to look at.
func levelOfReason(reason hotfix.Reason) event.Level {
	if reason.Refuses() {
		return event.Warning
	}
	return event.Information
}

func (n *node) learnCurrent(ctx context.Context) {
	if n.settings.current != "" {
		return
	}
	version, err := slot.Ask(ctx, n.settings.baked)
	if err != nil {
		n.warn(fmt.Sprintf("the version of %s is not known, so no hotfix is taken: %v", n.settings.baked, err))
		return
	}
	n.settings.current = version.String()
}
