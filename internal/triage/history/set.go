package history

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
)

// maximumSet bounds a set; of more names it keeps those with the smallest hashes.
const maximumSet = 4096

const hashSize = 4 // bytes

// Set is a set of names of scenarios: hashes of 32 bits, in order. Of a full one, nothing is known of names whose hash
// is above its last.
type Set []byte

// SetOf makes a set of names.
func SetOf(names []string) Set {
	hashes := make([]uint32, 0, len(names))
	for _, name := range names {
		hashes = append(hashes, hash(name))
	}
	return pack(hashes)
}

func pack(hashes []uint32) Set {
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	var s Set
	for _, h := range hashes[:min(len(hashes), maximumSet)] {
		s = binary.BigEndian.AppendUint32(s, h)
	}
	return s
}

func hash(name string) uint32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	sum := h.Sum64()
	return uint32(sum>>32) ^ uint32(sum) //nolint:gosec // folded to 32 bits
}

func (s Set) hashes() []uint32 {
	hashes := make([]uint32, 0, len(s)/hashSize)
	for i := 0; i+hashSize <= len(s); i += hashSize {
		hashes = append(hashes, binary.BigEndian.Uint32(s[i:]))
	}
	return hashes
}

// Has says whether a name is in the set; known is false where that can't be told.
func (s Set) Has(name string) (has, known bool) { return s.has(hash(name)) }

func (s Set) has(h uint32) (has, known bool) {
	low, high := 0, len(s)/hashSize
	for low < high {
		middle := (low + high) / 2
		switch at := binary.BigEndian.Uint32(s[middle*hashSize:]); {
		case at == h:
			return true, true
		case at < h:
			low = middle + 1
		default:
			high = middle
		}
	}
	beyond := low == len(s)/hashSize
	return false, len(s) > 0 && (len(s)/hashSize < maximumSet || !beyond)
}

func (s Set) union(other Set) Set { return pack(append(s.hashes(), other.hashes()...)) }

func (s Set) check() error {
	hashes := s.hashes()
	if len(s)%hashSize != 0 || len(hashes) > maximumSet || !slices.IsSorted(hashes) {
		return errors.New("a set of scenarios that is none")
	}
	return nil
}
