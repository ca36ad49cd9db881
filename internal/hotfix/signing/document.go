package signing

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/trust"
)

// Kind is what a file holds.
type Kind string

// The kinds of files that are signed or made of what is signed.
const (
	Root    Kind = "root"
	Signed  Kind = "signed-pointer"
	Pointer Kind = "pointer"
)

// KindOf tells by the names of its members what a file is meant to be; whether it is that, its reader tells.
func KindOf(raw []byte) Kind {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return Pointer
	}
	switch {
	case members["payload"] != nil || members["signatures"] != nil:
		return Root
	case members["roots"] != nil:
		return Signed
	}
	return Pointer
}

// Roots are the root documents of one line, each signed by the one before. The first is the oldest that nodes have.
type Roots struct {
	envelopes []trust.Envelope
	first     trust.Trusted
	chain     trust.Chain
}

// ReadRoots puts root documents in order and verifies them from the oldest on. A document that is given again counts
// once.
func ReadRoots(envelopes []trust.Envelope) (Roots, error) {
	versions := map[int64]trust.Envelope{}
	var order []int64
	for _, envelope := range envelopes {
		root, err := RootOf(envelope)
		if err != nil {
			return Roots{}, err
		}
		before, there := versions[root.Version]
		switch {
		case there && string(before.Payload) != string(envelope.Payload):
			return Roots{}, fmt.Errorf("there are two different roots %d", root.Version)
		case !there:
			order = append(order, root.Version)
			versions[root.Version] = envelope
		}
	}
	if len(order) == 0 {
		return Roots{}, errors.New("there is no root document")
	}
	slices.Sort(order)
	var r Roots
	for _, version := range order {
		r.envelopes = append(r.envelopes, versions[version])
	}
	raw, err := r.envelopes[0].Encode()
	if err != nil {
		return Roots{}, err
	}
	if r.first, err = trust.ParseTrusted(raw); err != nil {
		return Roots{}, fmt.Errorf("root %d: %w", order[0], err)
	}
	r.chain, err = r.first.Follow(trust.Memory{}, r.Following())
	return r, err
}

// RootOf reads a root without looking at its signatures.
func RootOf(e trust.Envelope) (trust.Root, error) {
	if e.PayloadType != trust.RootType {
		return trust.Root{}, fmt.Errorf("it holds %s, and %s is wanted here", hotfix.Quote(e.PayloadType), trust.RootType)
	}
	return trust.ParseRoot(e.Payload)
}

// Newest is the root whose keys count.
func (r Roots) Newest() trust.Root { return r.chain.Newest() }

// Following are the roots after the first.
func (r Roots) Following() []trust.Envelope { return r.envelopes[1:] }

// Verify is what a node does that has the first root and has seen nothing else.
func (r Roots) Verify(pointer trust.Envelope, now time.Time) (trust.Accepted, error) {
	return r.chain.Accept(pointer, now)
}

// Release is a pointer to be signed.
type Release struct {
	Pointer         []byte
	Counter         int64
	Issued, Expires time.Time
	Roots           Roots
}

// Bundle is the signed pointer, still without signatures.
func (r Release) Bundle() (trust.Bundle, error) {
	document := trust.Document{Counter: r.Counter, Issued: trust.At(r.Issued), Expires: trust.At(r.Expires),
		Pointer: r.Pointer}
	payload, err := document.Payload()
	if err != nil {
		return trust.Bundle{}, err
	}
	root := r.Roots.Newest()
	if document.Expires.After(root.Expires) {
		return trust.Bundle{}, fmt.Errorf("root %d expires at %s, before the document does: nodes would follow it until "+
			"then only. hint: publish the next root first, or sign for a shorter time", root.Version, trust.At(root.Expires))
	}
	return trust.Bundle{Roots: r.Roots.Following(),
		Pointer: trust.Envelope{PayloadType: trust.PointerType, Payload: payload}}, nil
}

// Tally is how far an envelope is signed by a role.
type Tally struct {
	Signers []trust.Key
	Needed  int
}

// Complete tells whether enough have signed.
func (t Tally) Complete() bool { return len(t.Signers) >= t.Needed }

// Count counts the signatures of a role.
func Count(e trust.Envelope, role trust.Role) Tally { return Tally{e.SignedBy(role), role.Threshold} }

// Provenance is what pointers may name that a root vouches for.
func Provenance(root trust.Root) hotfix.Provenance {
	return hotfix.Provenance{Signed: true, Hosts: root.Hosts, Root: root.Version}
}
