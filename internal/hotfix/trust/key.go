package trust

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"salve/internal/hotfix"
)

// Key is a public key of a root document.
type Key struct {
	ID     string // IDOf the public key
	Name   string // whose it is, for people; may be empty
	Public ed25519.PublicKey
}

// IDOf is what a key is called: the SHA-256 of its bytes.
func IDOf(public ed25519.PublicKey) string {
	digest := sha256.Sum256(public)
	return hex.EncodeToString(digest[:])
}

// String is the key for people.
func (k Key) String() string {
	if k.Name == "" {
		return k.ID
	}
	return k.Name + " " + k.ID[:min(len(k.ID), 12)]
}

func shown(keys []Key) []string {
	all := make([]string, len(keys))
	for i, key := range keys {
		all[i] = key.String()
	}
	return all
}

// writtenKey is a key as the root document has it, under its ID.
type writtenKey struct {
	Scheme string `json:"scheme"`
	Name   string `json:"name,omitempty"`
	Public Bytes  `json:"public"`
}

const scheme = "ed25519"

func (w writtenKey) read(id string) (Key, error) {
	switch {
	case w.Scheme != scheme:
		return Key{}, fmt.Errorf("scheme %s is not known here, only %s", hotfix.Quote(w.Scheme), scheme)
	case len(w.Public) != ed25519.PublicKeySize:
		return Key{}, fmt.Errorf("public is not the %d bytes of a key", ed25519.PublicKeySize)
	case IDOf(ed25519.PublicKey(w.Public)) != id:
		return Key{}, errors.New("the ID is not the SHA-256 of the public key")
	}
	return Key{ID: id, Name: w.Name, Public: ed25519.PublicKey(w.Public)}, nil
}
