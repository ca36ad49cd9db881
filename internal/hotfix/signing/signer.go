package signing

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"time"

	"salve/internal/hotfix/trust"
)

// Signer signs with a private key that it keeps to itself.
type Signer interface {
	Public() ed25519.PublicKey
	Sign(ctx context.Context, message []byte) ([]byte, error)
}

// Options are what it takes to reach keys that are not in files.
type Options struct {
	// Agent is the socket of the ssh-agent.
	Agent string
	// Public is the public key of a command's, which can't be asked for it.
	Public ed25519.PublicKey
	// Patience bounds one signature of an agent or a command: somebody may have to touch a key.
	Patience time.Duration
}

// The prefixes of keys that are not in files.
const (
	agentPrefix   = "agent:"
	commandPrefix = "exec:"
)

// IsCommand tells whether a key is a command's.
func IsCommand(key string) bool { return strings.HasPrefix(key, commandPrefix) }

// Open reaches a key: «agent:» and the fingerprint or the comment of a key in the agent, «exec:» and a command, or a
// file.
func Open(ctx context.Context, key string, options Options) (Signer, error) {
	if selector, is := strings.CutPrefix(key, agentPrefix); is {
		return openAgent(ctx, selector, options)
	}
	if command, is := strings.CutPrefix(key, commandPrefix); is {
		return openCommand(command, options)
	}
	return openFile(key)
}

// Add signs an envelope, unless the key has signed it already. What claims to be a signature of the key and is none is
// taken out; so is one of the key's that says nothing of it, or names another: nodes don't count it.
func Add(ctx context.Context, e trust.Envelope, by Signer) (trust.Envelope, error) {
	message, id := e.Signed(), trust.IDOf(by.Public())
	var others []trust.Signature
	for _, signature := range e.Signatures {
		named, own := signature.KeyID == id, ed25519.Verify(by.Public(), message, signature.Sig)
		switch {
		case named && own:
			return e, nil
		case !named && !own:
			others = append(others, signature)
		}
	}
	sig, err := by.Sign(ctx, message)
	if err != nil {
		return trust.Envelope{}, fmt.Errorf("signing with key %s: %w", id, err)
	}
	if !ed25519.Verify(by.Public(), message, sig) {
		return trust.Envelope{}, fmt.Errorf("signing with key %s: %w", id, errNotItsOwn)
	}
	e.Signatures = append(others, trust.Signature{KeyID: id, Sig: sig})
	return e, nil
}

var errNotItsOwn = errors.New("what it gave is no signature of this key over this document. hint: look whether the " +
	"public key is the private one's, and whether it signs with plain Ed25519")
