package journal

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"salve/internal/apierr"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// Keys are what records are sealed with. Those who may write records do not have
// them by that right alone.
type Keys interface {
	// Key gives the key for a runbook's records. It fails with *KeyError.
	Key(ctx context.Context, runbook string) (Key, error)
	// MakeKey is Key, and makes the key when there is none.
	MakeKey(ctx context.Context, runbook string) (Key, error)
}

// Key seals the records of a runbook. The zero value seals nothing.
type Key struct{ secret []byte }

// NewKey takes a key as it is kept.
func NewKey(secret []byte) (Key, error) {
	if len(secret) != KeySize {
		return Key{}, apierr.New(apierr.Terminal, "invalid journal key: %d bytes, want %d", len(secret), KeySize)
	}
	return Key{secret: append([]byte(nil), secret...)}, nil
}

// RandomKey makes a key, and gives what is to be kept of it.
func RandomKey() (Key, []byte) {
	secret := make([]byte, KeySize)
	_, _ = rand.Read(secret) // never fails, by its documentation
	return Key{secret: secret}, append([]byte(nil), secret...)
}

// ID tells the key from others and gives nothing of it away.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("salve journal key\x00"), k.secret...))
	return hex.EncodeToString(sum[:8])
}

// Format prints the ID whatever the verb, so that no message holds the key.
func (k Key) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, "journal key "+k.ID()) }

// seal authenticates parts under a purpose: a seal for one can't serve another.
func (k Key) seal(purpose string, parts ...[]byte) string {
	mac := hmac.New(sha256.New, k.secret)
	for _, part := range append([][]byte{[]byte(purpose)}, parts...) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		mac.Write(length[:])
		mac.Write(part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

func (k Key) sealed(seal, purpose string, parts ...[]byte) bool {
	return len(k.secret) == KeySize && hmac.Equal([]byte(seal), []byte(k.seal(purpose, parts...)))
}

// KeyError says that the key for a runbook's records can't be had. It unwraps to
// the cause, which is of class Missing when there is no key.
type KeyError struct {
	Runbook string
	// Where names the file or the Secret.
	Where string
	// Hint is a command that mends it; may be empty.
	Hint string
	Err  error
}

func (e *KeyError) Error() string {
	text := fmt.Sprintf("journal key of runbook %q in %s: %v", e.Runbook, e.Where, e.Err)
	if e.Hint != "" {
		text += ". hint: " + e.Hint
	}
	return text
}

func (e *KeyError) Unwrap() error { return e.Err }
