package trust

import (
	"errors"
	"fmt"
	"slices"
)

// Memory is what a node has seen: it lets it recognise what is older. It never makes anything trusted. Its zero value
// has seen nothing.
type Memory struct {
	SchemaVersion int64      `json:"schemaVersion"`
	Chosen        string     `json:"chosen"` // the digest of the root that it was chosen to trust then
	Roots         []Envelope `json:"roots"`  // those that followed it
	// Counter and Digest are those of the newest document that was accepted; Keys are the pointer's keys by then.
	Counter int64    `json:"counter,omitempty"`
	Digest  string   `json:"digest,omitempty"`
	Keys    []string `json:"keys"`
}

// maxMemory bounds what is kept, in bytes.
const maxMemory = MaxBundle + 64<<10

func parseMemory(raw []byte) (Memory, error) {
	var m Memory
	err := strictly(raw, maxMemory, &m)
	if err == nil {
		err = checkSchema(m.SchemaVersion)
	}
	if err == nil && (m.Counter == 0) != (m.Digest == "") {
		err = errors.New("it has one of counter and digest")
	}
	if err != nil {
		return Memory{}, err
	}
	return m, nil
}

func (m Memory) encode() ([]byte, error) {
	m.SchemaVersion, m.Roots, m.Keys = 1, append([]Envelope{}, m.Roots...), append([]string{}, m.Keys...)
	return encode(m)
}

// under is what a memory means to a root that was chosen: the roots behind it. Of another line of roots nothing is
// taken over but the counter: the owner has chosen anew, and forKeysOf judges whether it still counts.
func (m Memory) under(chosen Trusted) Memory {
	m.Roots = m.rootsAfter(chosen.digest)
	m.Chosen = chosen.digest
	return m
}

func (m Memory) rootsAfter(digest string) []Envelope {
	if m.Chosen == digest {
		return m.Roots
	}
	for i, envelope := range m.Roots {
		if digestOf(envelope.Payload) == digest {
			return m.Roots[i+1:]
		}
	}
	return nil
}

// forKeysOf is the memory after a step to a root with this role. It forgets the counter when none of the keys is left
// that could have signed it: a stolen key may have used up all the numbers, and what it signed does not count any more.
func (m Memory) forKeysOf(role Role) Memory {
	ids := make([]string, len(role.Keys))
	for i, key := range role.Keys {
		ids[i] = key.ID
	}
	slices.Sort(ids)
	if !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(m.Keys, id) }) {
		m.Counter, m.Digest = 0, ""
	}
	m.Keys = ids
	return m
}

// with is the memory after a document, which must not be older than what was seen.
func (m Memory) with(counter int64, digest string) (Memory, error) {
	switch {
	case counter < m.Counter:
		return Memory{}, fmt.Errorf("document %d is older than document %d, which was seen on this node. hint: sign it "+
			"again with a counter above %d", counter, m.Counter, m.Counter)
	case counter == m.Counter && digest != m.Digest:
		return Memory{}, fmt.Errorf("there are two different documents %d: another one was seen on this node. hint: sign "+
			"it again with a counter above %d", counter, counter)
	}
	m.Counter, m.Digest = counter, digest
	return m, nil
}

// same tells whether two memories are one: then nothing has to be written.
func (m Memory) same(other Memory) bool {
	a, err := m.encode()
	if err != nil {
		return false
	}
	b, err := other.encode()
	return err == nil && string(a) == string(b)
}
