package approval

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"salve/journal"
)

// Signer is a private key, wherever it is kept.
type Signer interface {
	Public() ed25519.PublicKey
	Sign(ctx context.Context, message []byte) ([]byte, error)
}

// signed is a statement as it is kept: its exact bytes, and who signed them.
type signed struct {
	Statement []byte `json:"statement"`
	Key       string `json:"key"`
	Signature []byte `json:"signature"`
}

// purpose keeps a signature of something else from being one of a statement.
const purpose = "salve approval 1\n"

// maxStatement bounds a statement, and maxReason the words in it.
const (
	maxStatement = 16 << 10
	maxReason    = 1000
)

// Sign signs a statement with a person's key.
func Sign(ctx context.Context, by Signer, statement journal.Statement) ([]byte, error) {
	statement.ID, statement.By, statement.Proof = "", journal.Identity{}, ""
	if len(statement.Reason)+len(statement.From) > maxReason {
		return nil, fmt.Errorf("a reason of %d bytes: at most %d", len(statement.Reason), maxReason)
	}
	raw, err := json.Marshal(statement)
	if err != nil {
		return nil, fmt.Errorf("encoding the statement: %w", err)
	}
	message := append([]byte(purpose), raw...)
	signature, err := by.Sign(ctx, message)
	if err != nil {
		return nil, fmt.Errorf("signing the statement: %w", err)
	}
	if !ed25519.Verify(by.Public(), message, signature) {
		return nil, errors.New("signing the statement: the signature is not one of the key")
	}
	return json.Marshal(signed{Statement: raw, Key: keyWord(by.Public()), Signature: signature})
}

// Verify gives a statement that somebody signed whose key a rule holds. Who said it is told by the key alone.
func Verify(rule journal.ApprovalRule, raw []byte) (journal.Statement, error) {
	var kept signed
	if len(raw) > maxStatement {
		return journal.Statement{}, fmt.Errorf("a statement of more than %d bytes", maxStatement)
	}
	if err := strict(raw, &kept); err != nil {
		return journal.Statement{}, fmt.Errorf("not a signed statement: %w", err)
	}
	id := identifier(kept)
	i := slices.IndexFunc(rule.Keys, func(person journal.ApproverKey) bool { return person.Key == kept.Key })
	if i < 0 {
		return journal.Statement{ID: id, By: journal.Identity{User: "an unknown key"}},
			fmt.Errorf("forged: key %.80q is none of those who may approve", kept.Key)
	}
	by := journal.Identity{User: rule.Keys[i].Name, Key: kept.Key}
	public, err := publicKey(kept.Key)
	if err != nil {
		return journal.Statement{ID: id, By: by}, err
	}
	if !ed25519.Verify(public, append([]byte(purpose), kept.Statement...), kept.Signature) {
		return journal.Statement{ID: id, By: by}, fmt.Errorf("forged: the signature is not that of %s", by)
	}
	var statement journal.Statement
	if err := strict(kept.Statement, &statement); err != nil {
		return journal.Statement{ID: id, By: by}, fmt.Errorf("not a statement: %w", err)
	}
	statement.ID, statement.By, statement.Proof = id, by, ""
	if !Names(rule, by) {
		return statement, fmt.Errorf("forbidden: %s is none of %v", by, rule.By)
	}
	return statement, nil
}

// identifier is over what was said and by which key. The signature has no part in it: there may be several of the same.
func identifier(kept signed) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", kept.Key, kept.Statement))
	return hex.EncodeToString(sum[:])
}

func strict(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}
