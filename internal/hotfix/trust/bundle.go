package trust

import (
	"encoding/json"
	"errors"
	"fmt"

	"salve/internal/hotfix"
)

// Bounds of the signed pointer: the file in bytes, and the roots in it and in what is remembered.
const (
	MaxBundle = 512 << 10
	maxRoots  = maxElements
)

// Bundle is the signed pointer as it is delivered to nodes: one document for pointer and roots, so that there are no
// parts of different times to be mixed.
type Bundle struct {
	SchemaVersion int64      `json:"schemaVersion"`
	Roots         []Envelope `json:"roots"` // those after the one that nodes may have, in their order
	Pointer       Envelope   `json:"pointer"`
}

// ParseBundle reads a signed pointer. Nothing of it is verified then.
func ParseBundle(raw []byte) (Bundle, error) {
	var b Bundle
	err := strictly(raw, MaxBundle, &b)
	if err == nil {
		err = checkSchema(b.SchemaVersion)
	}
	for i := 0; i < len(b.Roots) && err == nil; i++ {
		err = b.Roots[i].check()
	}
	if err == nil {
		err = b.Pointer.check()
	}
	if err != nil {
		return Bundle{}, err
	}
	return b, nil
}

// Encode writes a signed pointer as ParseBundle reads it.
func (b Bundle) Encode() ([]byte, error) {
	b.SchemaVersion, b.Roots = 1, append([]Envelope{}, b.Roots...)
	return encode(b)
}

// Document is what the signatures of a pointer are over.
type Document struct {
	SchemaVersion int64           `json:"schemaVersion"`
	Counter       int64           `json:"counter"` // higher than that of every document before
	Issued        Moment          `json:"issued"`
	Expires       Moment          `json:"expires"`
	Pointer       json.RawMessage `json:"pointer"` // as hotfix.ParsePointer reads it
}

// ParseDocument reads the payload of a pointer's envelope. Whoever follows it has verified the envelope, and parses
// the pointer.
func ParseDocument(payload []byte) (Document, error) {
	var d Document
	err := strictly(payload, MaxEnvelope, &d)
	if err == nil {
		err = checkSchema(d.SchemaVersion)
	}
	if err == nil && !d.Issued.Before(d.Expires.Time) {
		err = errors.New("it expires before it was issued")
	}
	if err != nil {
		return Document{}, err
	}
	return d, nil
}

// Payload writes a document as ParseDocument reads it, and refuses one that a node would refuse. The pointer's bytes
// stay as they are.
func (d Document) Payload() ([]byte, error) {
	if _, err := hotfix.ParsePointer(d.Pointer); err != nil {
		return nil, fmt.Errorf("pointer: %w", err)
	}
	payload := fmt.Appendf(nil, `{"schemaVersion":1,"counter":%d,"issued":%q,"expires":%q,"pointer":`, d.Counter,
		d.Issued, d.Expires)
	payload = append(append(payload, d.Pointer...), '}')
	_, err := ParseDocument(payload)
	return payload, err
}
