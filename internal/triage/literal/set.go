package literal

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
)

const (
	// MaxLine is the length up to which a line is always handed over whole, if no more than 8 literals can begin at
	// the same place of a text.
	MaxLine = maxHits / 8
	maxHits = 1 << 19 // hits of one piece, which are kept until it is scanned
)

// A Set is a list of literals made ready for searching. It is safe for concurrent use.
type Set struct {
	literals [][]byte
	samplers []*sampler
	overlap  int // how far an occurrence can reach beyond its first byte
	piece    int // how many bytes are scanned at a time
	scans    sync.Pool
}

// New makes a set. Literals are known by their index; equal ones are found as often as they are listed.
func New(literals [][]byte) (*Set, error) {
	s := &Set{literals: make([][]byte, len(literals))}
	var short, long []int
	for i, literal := range literals {
		s.literals[i] = bytes.Clone(literal)
		s.overlap = max(s.overlap, len(literal)-1)
		switch {
		case len(literal) == 0:
			return nil, fmt.Errorf("literal %d is empty", i)
		case len(literal) > MaxLine:
			return nil, fmt.Errorf("literal %d has %d bytes: at most %d", i, len(literal), MaxLine)
		case len(literal) < maxWindow:
			short = append(short, i)
		default:
			long = append(long, i)
		}
	}
	// Short literals allow small steps only: apart, they don't slow down the search for the others down to theirs.
	for _, indices := range [][]int{long, short} {
		if len(indices) > 0 {
			s.samplers = append(s.samplers, newSampler(s.literals, indices))
		}
	}
	s.piece = min(4*MaxLine, maxHits/nesting(s.literals)+1) // a line of MaxLine bytes has an end
	s.scans.New = func() any { return s.newScan() }
	return s, nil
}

// nesting is the number of literals that can begin at the same place: the longest chain of one's being the beginning
// of the next.
func nesting(literals [][]byte) int {
	sorted := slices.Clone(literals)
	slices.SortFunc(sorted, bytes.Compare)
	deepest := 1
	var chain [][]byte
	for _, literal := range sorted {
		for len(chain) > 0 && !bytes.HasPrefix(literal, chain[len(chain)-1]) {
			chain = chain[:len(chain)-1]
		}
		chain = append(chain, literal)
		deepest = max(deepest, len(chain))
	}
	return deepest
}
