package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"salve/internal/hotfix"
)

// Bounds of a root document.
const (
	maxRoot = 32 << 10 // bytes
	maxKeys = 16       // of a role
)

// Root says whose signatures count, until when, and where artifacts may come from. A root is followed by the one of
// the next version, which both have to have signed for.
type Root struct {
	Version int64
	Expires time.Time
	Root    Role // who may say who is next
	Pointer Role // who may say what is installed
	Hosts   []string
}

// Role is keys, and how many of them have to sign.
type Role struct {
	Keys      []Key
	Threshold int
}

// writtenRoot is the payload of a root.
type writtenRoot struct {
	SchemaVersion int64                 `json:"schemaVersion"`
	Version       int64                 `json:"version"`
	Expires       Moment                `json:"expires"`
	Keys          map[string]writtenKey `json:"keys"`
	Roles         writtenRoles          `json:"roles"`
	Hosts         []string              `json:"hosts"`
}

type writtenRoles struct {
	Root    writtenRole `json:"root"`
	Pointer writtenRole `json:"pointer"`
}

type writtenRole struct {
	Keys      []string `json:"keys"`
	Threshold int64    `json:"threshold"`
}

// ParseRoot reads the payload of a root, and checks all that can be wrong with it but the signatures.
func ParseRoot(payload []byte) (Root, error) {
	var w writtenRoot
	err := strictly(payload, maxRoot, &w)
	if err == nil {
		err = checkSchema(w.SchemaVersion)
	}
	if err != nil {
		return Root{}, err
	}
	return w.read()
}

func (w writtenRoot) read() (root Root, err error) {
	keys := map[string]Key{}
	for id, written := range w.Keys {
		if keys[id], err = written.read(id); err != nil {
			return Root{}, fmt.Errorf("key %s: %w", hotfix.Quote(id), err)
		}
	}
	root = Root{Version: w.Version, Expires: w.Expires.Time, Hosts: w.Hosts}
	for _, host := range w.Hosts {
		if _, err := hotfix.ParseHost(host); err != nil {
			return Root{}, fmt.Errorf("hosts: %w", err)
		}
	}
	if root.Root, err = w.Roles.Root.read(keys); err != nil {
		return Root{}, fmt.Errorf("role root: %w", err)
	}
	if root.Pointer, err = w.Roles.Pointer.read(keys); err != nil {
		return Root{}, fmt.Errorf("role pointer: %w", err)
	}
	return root, allUsed(keys, root)
}

func (w writtenRole) read(keys map[string]Key) (Role, error) {
	role := Role{Threshold: int(w.Threshold)}
	for i, id := range w.Keys {
		key, there := keys[id]
		switch {
		case !there:
			return Role{}, fmt.Errorf("key %s is not among the keys", hotfix.Quote(id))
		case slices.Contains(w.Keys[:i], id):
			return Role{}, fmt.Errorf("key %s is given twice", hotfix.Quote(id))
		}
		role.Keys = append(role.Keys, key)
	}
	switch {
	case len(role.Keys) > maxKeys:
		return Role{}, fmt.Errorf("it has more than %d keys", maxKeys)
	case w.Threshold > int64(len(role.Keys)):
		return Role{}, fmt.Errorf("the threshold is %d, and there are %d keys", w.Threshold, len(role.Keys))
	}
	return role, nil
}

// allUsed refuses a key of no role: somebody meant it to count.
func allUsed(keys map[string]Key, root Root) error {
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		same := func(key Key) bool { return key.ID == id }
		if !slices.ContainsFunc(root.Root.Keys, same) && !slices.ContainsFunc(root.Pointer.Keys, same) {
			return fmt.Errorf("key %s has no role", keys[id])
		}
	}
	return nil
}

// Payload writes a root as ParseRoot reads it, and refuses one that it would refuse.
func (r Root) Payload() ([]byte, error) {
	w := writtenRoot{SchemaVersion: 1, Version: r.Version, Expires: At(r.Expires), Keys: map[string]writtenKey{},
		Hosts: append([]string{}, r.Hosts...)}
	w.Roles.Root, w.Roles.Pointer = r.Root.write(w.Keys), r.Pointer.write(w.Keys)
	payload, err := encode(w)
	if err == nil {
		_, err = ParseRoot(payload)
	}
	return payload, err
}

func (r Role) write(keys map[string]writtenKey) writtenRole {
	w := writtenRole{Keys: []string{}, Threshold: int64(r.Threshold)}
	for _, key := range r.Keys {
		w.Keys = append(w.Keys, key.ID)
		name := key.Name
		if name == "" {
			name = keys[key.ID].Name // that of the other role
		}
		keys[key.ID] = writtenKey{Scheme: scheme, Name: name, Public: Bytes(key.Public)}
	}
	return w
}

// openRoot reads a root from its envelope. Nothing is verified but the type.
func openRoot(e Envelope) (Root, error) {
	if e.PayloadType != RootType {
		return Root{}, fmt.Errorf("it holds %s, and %s is wanted here", hotfix.Quote(e.PayloadType), RootType)
	}
	return ParseRoot(e.Payload)
}

// ParseTrusted reads the root that somebody has chosen to trust: the envelope of a root that is signed by its own
// keys. An error says why it can't be used.
func ParseTrusted(raw []byte) (Trusted, error) {
	envelope, err := ParseEnvelope(raw)
	if err != nil {
		return Trusted{}, err
	}
	root, err := openRoot(envelope)
	if err != nil {
		return Trusted{}, err
	}
	if _, err := envelope.open(RootType, root.Root); err != nil {
		return Trusted{}, fmt.Errorf("it is not signed by its own keys yet: %w", err)
	}
	return Trusted{root: root, digest: digestOf(envelope.Payload)}, nil
}

// Trusted is a root that is trusted. Its zero value trusts nobody.
type Trusted struct {
	root   Root
	digest string
}

// Root is whom it trusts.
func (t Trusted) Root() Root { return t.root }

// next verifies the root that follows: of the next version, and signed by enough of the keys of both.
func (t Trusted) next(e Envelope) (Trusted, error) {
	root, err := openRoot(e)
	if err != nil {
		return Trusted{}, err
	}
	if root.Version != t.root.Version+1 {
		return Trusted{}, fmt.Errorf("root %d can't follow root %d: every one in between is needed", root.Version,
			t.root.Version)
	}
	for _, by := range []Root{t.root, root} {
		if _, err := e.open(RootType, by.Root); err != nil {
			return Trusted{}, fmt.Errorf("root %d by the keys of root %d: %w", root.Version, by.Version, err)
		}
	}
	return Trusted{root: root, digest: digestOf(e.Payload)}, nil
}

func digestOf(payload []byte) string {
	digest := sha256.Sum256(payload)
	return hex.EncodeToString(digest[:])
}
