package trust

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The types of payloads. A signature is over the type too, so that none counts for another kind of document.
const (
	RootType    = "application/vnd.salve.node-root.v1+json"
	PointerType = "application/vnd.salve.node-pointer.v1+json"
)

// MaxEnvelope bounds what is read before a signature was checked, in bytes.
const MaxEnvelope = 128 << 10

// Envelope is a payload with signatures, as DSSE has it: https://github.com/secure-systems-lab/dsse.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     Bytes       `json:"payload"`
	Signatures  []Signature `json:"signatures"`
}

// Signature is one of an envelope.
type Signature struct {
	KeyID string `json:"keyid,omitempty"` // which key to try
	Sig   Bytes  `json:"sig"`
}

// maxSignatures keeps what others can make a node calculate small.
const maxSignatures = 16

// ParseEnvelope reads an envelope. Nothing of it is verified then.
func ParseEnvelope(raw []byte) (Envelope, error) {
	var e Envelope
	err := strictly(raw, MaxEnvelope, &e)
	if err == nil {
		err = e.check()
	}
	if err != nil {
		return Envelope{}, err
	}
	return e, nil
}

// check is for an envelope that may be a part of another document.
func (e Envelope) check() error {
	switch {
	case len(e.Signatures) > maxSignatures:
		return fmt.Errorf("it has more than %d signatures", maxSignatures)
	case len(e.Payload) > MaxEnvelope:
		return fmt.Errorf("its payload is larger than %d bytes", MaxEnvelope)
	}
	return nil
}

// Encode writes an envelope as ParseEnvelope reads it.
func (e Envelope) Encode() ([]byte, error) { return encode(e) }

// MarshalJSON writes that there is no signature as an empty list.
func (e Envelope) MarshalJSON() ([]byte, error) {
	type written Envelope
	e.Signatures = append([]Signature{}, e.Signatures...)
	return json.Marshal(written(e))
}

// Signed is the bytes that signatures are over: DSSE's pre-authentication encoding.
func (e Envelope) Signed() []byte {
	var out bytes.Buffer
	for _, part := range [][]byte{[]byte(e.PayloadType), e.Payload} {
		out.WriteString(" " + strconv.Itoa(len(part)) + " ")
		out.Write(part)
	}
	return append([]byte("DSSEv1"), out.Bytes()...)
}

// SignedBy gives those of a role's keys that have signed, each once however many signatures are its.
func (e Envelope) SignedBy(role Role) []Key {
	message := e.Signed()
	var signed []Key
	for _, key := range role.Keys {
		if e.hasSignatureOf(key, message) {
			signed = append(signed, key)
		}
	}
	return signed
}

// hasSignatureOf tries the signatures that claim to be the key's. Those that claim nothing are not tried with every
// key: whoever writes the file could make a boot calculate for long.
func (e Envelope) hasSignatureOf(key Key, message []byte) bool {
	for _, s := range e.Signatures {
		if s.KeyID == key.ID && len(s.Sig) == ed25519.SignatureSize &&
			ed25519.Verify(key.Public, message, s.Sig) {
			return true
		}
	}
	return false
}

// open gives the payload if enough keys of a role have signed it as what is wanted, and says which keys did.
func (e Envelope) open(payloadType string, role Role) (signers []Key, err error) {
	if e.PayloadType != payloadType {
		return nil, fmt.Errorf("it holds %s, and %s is wanted here", e.PayloadType, payloadType)
	}
	signers = e.SignedBy(role)
	if len(signers) < role.Threshold {
		return nil, &ThresholdError{Signed: signers, Role: role, Signatures: len(e.Signatures)}
	}
	return signers, nil
}

// ThresholdError says that too few of a role's keys have signed.
type ThresholdError struct {
	Signed     []Key
	Role       Role
	Signatures int // that are there, whether or not they count
}

func (e *ThresholdError) Error() string {
	who := "nobody"
	if len(e.Signed) > 0 {
		who = strings.Join(shown(e.Signed), ", ")
	}
	return fmt.Sprintf("%d of the %d keys that are needed have signed: %s (of %d signatures)", len(e.Signed),
		e.Role.Threshold, who, e.Signatures)
}
