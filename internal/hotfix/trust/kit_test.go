package trust_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/trust"
)

// The people of the tests: alice, bob and carol keep root keys, ci and backup those of pointers.
func private(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func key(name string) trust.Key {
	public := private(name).Public().(ed25519.PublicKey)
	return trust.Key{ID: trust.IDOf(public), Name: name, Public: public}
}

func role(threshold int, names ...string) trust.Role {
	r := trust.Role{Threshold: threshold}
	for _, name := range names {
		r.Keys = append(r.Keys, key(name))
	}
	return r
}

// roots are some in a row.
type roots = []trust.Envelope

// issued is when all documents of the tests were; now is an hour later.
var (
	issued = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	now    = issued.Add(time.Hour)
)

// rootOf is a root of two of three root keys, and one of two of pointers.
func rootOf(version int64) trust.Root {
	return trust.Root{
		Version: version, Expires: issued.AddDate(1, 0, 0), Hosts: []string{"packages.example.com"},
		Root: role(2, "alice", "bob", "carol"), Pointer: role(1, "ci", "backup"),
	}
}

// rootUntil is root 1 with another end.
func rootUntil(t testing.TB, end time.Time) trust.Envelope {
	t.Helper()
	root := rootOf(1)
	root.Expires = end
	return signedRoot(t, root, "alice", "bob")
}

func signedRoot(t testing.TB, root trust.Root, names ...string) trust.Envelope {
	t.Helper()
	payload, err := root.Payload()
	check(t, err)
	return signed(trust.Envelope{PayloadType: trust.RootType, Payload: payload}, names...)
}

// signed adds signatures to those that are there.
func signed(e trust.Envelope, names ...string) trust.Envelope {
	e.Signatures = append([]trust.Signature{}, e.Signatures...)
	for _, name := range names {
		sig := ed25519.Sign(private(name), e.Signed())
		e.Signatures = append(e.Signatures, trust.Signature{KeyID: key(name).ID, Sig: sig})
	}
	return e
}

const target = "202604.01.2"

func pointerJSON() []byte {
	return fmt.Appendf(nil, `{"hotfixes":{"202604.01":%q},"artifacts":{"202604.01":{"amd64":`+
		`{"url":"https://packages.example.com/node","sha256":%q,"size":7,"format":"binary"}}}}`, target, strings.Repeat("ab", 32))
}

func document(counter int64) trust.Document {
	return trust.Document{Counter: counter, Issued: trust.At(issued), Expires: trust.At(issued.AddDate(0, 1, 0)),
		Pointer: pointerJSON()}
}

func signedPointer(t testing.TB, d trust.Document, names ...string) trust.Envelope {
	t.Helper()
	payload, err := d.Payload()
	check(t, err)
	return signed(trust.Envelope{PayloadType: trust.PointerType, Payload: payload}, names...)
}

// world is what a node has and gets.
type world struct {
	configured trust.Envelope
	memory     trust.Memory
	bundle     trust.Bundle
	now        time.Time
	// raw changes the bundle's bytes.
	raw func(string) string
}

func newWorld(t testing.TB) *world {
	return &world{
		configured: signedRoot(t, rootOf(1), "alice", "bob"),
		bundle:     trust.Bundle{Pointer: signedPointer(t, document(7), "ci")},
		now:        now,
	}
}

// follow does what a node does, from bytes to a pointer that it may follow, and remembers as a node remembers.
func (w *world) follow(t testing.TB) (trust.Accepted, error) {
	t.Helper()
	configured, err := w.configured.Encode()
	check(t, err)
	root, err := trust.ParseTrusted(configured)
	if err != nil {
		return trust.Accepted{}, &hotfix.UnusableError{Reason: hotfix.ReasonUnusableRoot, Err: err}
	}
	raw, err := w.bundle.Encode()
	check(t, err)
	if w.raw != nil {
		changed := w.raw(string(raw))
		if changed == string(raw) {
			t.Fatal("nothing was changed")
		}
		raw = []byte(changed)
	}
	bundle, err := trust.ParseBundle(raw)
	if err != nil {
		return trust.Accepted{}, &hotfix.UnusableError{Reason: hotfix.ReasonMalformedPointer, Err: err}
	}
	chain, err := root.Follow(w.memory, bundle.Roots)
	if err != nil {
		return trust.Accepted{}, err
	}
	w.memory = chain.Memory()
	accepted, err := chain.Accept(bundle.Pointer, w.now)
	if err == nil {
		w.memory = accepted.Memory
	}
	return accepted, err
}

// deliver is a follow that has to succeed.
func (w *world) deliver(t testing.TB, pointer trust.Envelope, roots ...trust.Envelope) {
	t.Helper()
	w.bundle = trust.Bundle{Pointer: pointer, Roots: roots}
	_, err := w.follow(t)
	check(t, err)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
