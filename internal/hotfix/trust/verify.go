package trust

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/internal/hotfix"
)

// Chain is a root that somebody has chosen to trust, and those that followed it.
type Chain struct {
	newest Trusted
	seen   Memory // what is to be remembered of it
}

// Newest is the root that counts.
func (c Chain) Newest() Root { return c.newest.root }

// Memory is what has to be remembered before the chain is relied upon: that these roots were seen.
func (c Chain) Memory() Memory { return c.seen }

// Follow goes from the root that was chosen to the newest one that is known, by what is remembered and what is
// delivered. A root that was seen stays seen: a delivery without it goes on from it all the same.
//
// The errors are *hotfix.UnusableError.
func (t Trusted) Follow(memory Memory, delivered []Envelope) (Chain, error) {
	memory = memory.under(t)
	chain := Chain{newest: t}
	var err error
	for _, envelope := range memory.Roots {
		if chain.newest, err = chain.newest.next(envelope); err != nil {
			return Chain{}, refused(hotfix.ReasonStateUnusable, "what is remembered of roots: %w", err)
		}
	}
	chain.seen = memory.forKeysOf(chain.newest.root.Pointer)
	for _, envelope := range delivered {
		root, err := openRoot(envelope)
		if err == nil && root.Version <= chain.newest.root.Version {
			continue // it was seen, or the image is newer
		}
		if err == nil {
			chain.newest, err = chain.newest.next(envelope)
		}
		if err != nil {
			return Chain{}, refused(hotfix.ReasonUntrusted, "roots: %w", err)
		}
		chain.seen = chain.seen.forKeysOf(root.Pointer)
		chain.seen.Roots = append(slices.Clip(chain.seen.Roots), envelope)
	}
	if len(chain.seen.Roots) > maxRoots {
		return Chain{}, refused(hotfix.ReasonUntrusted, "roots: there are more than %d after root %d, which the node has. "+
			"hint: give nodes a newer root", maxRoots, t.root.Version)
	}
	return chain, nil
}

// Accepted is a signed pointer that a node may follow, once the memory of it is kept.
type Accepted struct {
	Pointer  hotfix.Pointer // vouched for
	Document Document
	Root     Root  // by which it counts
	Signers  []Key // of the pointer's role
	Memory   Memory
}

// Accept verifies a pointer at a time. The order matters: nothing of it is read before its signatures were counted,
// and nothing of it is remembered before all was checked.
//
// The errors are *hotfix.UnusableError.
func (c Chain) Accept(envelope Envelope, now time.Time) (Accepted, error) {
	root := c.newest.root
	signers, err := envelope.open(PointerType, root.Pointer)
	if err != nil {
		return Accepted{}, refused(hotfix.ReasonUntrusted, "the pointer by root %d: %w", root.Version, err)
	}
	document, err := ParseDocument(envelope.Payload)
	if err != nil {
		return Accepted{}, refused(hotfix.ReasonMalformedPointer, "the signed pointer: %w", err)
	}
	memory, err := c.seen.with(document.Counter, digestOf(envelope.Payload))
	if err != nil {
		return Accepted{}, refused(hotfix.ReasonReplayed, "%w", err)
	}
	if err := judge(root, document, now); err != nil {
		return Accepted{}, err
	}
	pointer, err := hotfix.ParsePointer(document.Pointer)
	if err != nil {
		return Accepted{}, refused(hotfix.ReasonMalformedPointer, "the signed pointer: %w", err)
	}
	pointer = pointer.By(hotfix.Provenance{
		Signed: true, Hosts: root.Hosts, Counter: document.Counter, Root: root.Version, Expires: document.Expires.Time,
		Signers: shown(signers),
	})
	return Accepted{Pointer: pointer, Document: document, Root: root, Signers: signers, Memory: memory}, nil
}

// judge asks the clock. A clock that is before a document's own time is wrong, and says nothing about what is over.
func judge(root Root, document Document, now time.Time) error {
	switch {
	case now.Before(document.Issued.Time):
		return refused(hotfix.ReasonClockBeforeIssue, "document %d was issued at %s, and the clock shows %s. "+
			"hint: set the clock", document.Counter, document.Issued, At(now))
	case !now.Before(root.Expires):
		return refused(hotfix.ReasonExpired, "root %d expired at %s. hint: publish the next root", root.Version,
			At(root.Expires))
	case !now.Before(document.Expires.Time):
		return refused(hotfix.ReasonExpired, "document %d expired at %s. hint: sign the pointer again, with a higher "+
			"counter", document.Counter, document.Expires)
	}
	return nil
}

func refused(reason hotfix.Reason, format string, values ...any) error {
	return &hotfix.UnusableError{Reason: reason, Err: fmt.Errorf(format, values...)}
}

// ReasonOf is the reason of an error of this package.
func ReasonOf(err error) hotfix.Reason {
	var unusable *hotfix.UnusableError
	if errors.As(err, &unusable) {
		return unusable.Reason
	}
	return hotfix.ReasonUntrusted
}
