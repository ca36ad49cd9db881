package literal

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// maxWindow is how many bytes of a literal are searched for, at most; what is around them is compared.
const maxWindow = 8

// A sampler looks at every stride-th gram of a text, and no other: stride is the number of grams of a window, so that
// one of them is looked at, and only one, wherever the window lies. Where it looks doesn't depend on what it saw,
// unlike in Wu and Manber's algorithm with its shifts, and so a processor works on several samples at a time.
type sampler struct {
	stride int
	mask   uint64 // of a gram's bytes in a word
	shift  uint   // of a gram's hash
	// filter has a bit for each hash of a gram in a window: it is small enough for the first cache.
	filter []uint64
	// heads says, by hash, where its grams begin; they end where those of the next one do.
	heads []uint32
	grams []gram
}

// A gram is where a window, and the literal around it, are to be expected when a text has it.
type gram struct {
	window  uint64
	before  int // bytes of the window before the gram
	start   int // bytes of the literal before the window
	literal int
}

// newSampler makes one for the literals with the indices.
func newSampler(literals [][]byte, indices []int) *sampler {
	width := maxWindow
	for _, i := range indices {
		width = min(width, len(literals[i]))
	}
	length := max((width+1)/2, min(width, 3)) // longer grams are rarer, shorter ones leave longer strides
	stride := width - length + 1
	hashBits := max(12, bits.Len(uint(len(indices)*stride))+5)
	s := &sampler{
		stride: stride, mask: maskOf(length), shift: uint(64 - hashBits),
		filter: make([]uint64, 1<<hashBits/64),
		heads:  make([]uint32, 1<<hashBits+1),
		grams:  make([]gram, len(indices)*stride),
	}
	starts := rareStarts(literals, indices, width)
	eachGram := func(visit func(hash uint64, g gram)) {
		for k, i := range indices {
			window := load(literals[i][starts[k]:]) & maskOf(width)
			for before := range stride {
				visit(s.hash(window>>(8*before)), gram{window: window, before: before, start: starts[k], literal: i})
			}
		}
	}
	eachGram(func(hash uint64, _ gram) {
		s.filter[hash/64] |= 1 << (hash % 64)
		s.heads[hash+1]++
	})
	for hash := range len(s.heads) - 1 {
		s.heads[hash+1] += s.heads[hash]
	}
	next := slices.Clone(s.heads)
	eachGram(func(hash uint64, g gram) {
		s.grams[next[hash]] = g
		next[hash]++
	})
	return s
}

// rareStarts gives, for each literal, the start of the window that a text is likely to have least often. The literals
// are themselves the sample of text by which this is told: « error: » is in many of them.
func rareStarts(literals [][]byte, indices []int, width int) []int {
	const length = 3 // some thousands of literals are too few to count longer parts
	counts := map[uint64]int{}
	for _, i := range indices {
		for at := range len(literals[i]) - length + 1 {
			counts[load(literals[i][at:])&maskOf(length)]++
		}
	}
	starts := make([]int, len(indices))
	for k, i := range indices {
		least := -1
		for start := range len(literals[i]) - width + 1 {
			sum := 0
			for at := start; at+length <= start+width; at++ {
				sum += counts[load(literals[i][at:])&maskOf(length)]
			}
			if least < 0 || sum < least {
				least, starts[k] = sum, start
			}
		}
	}
	return starts
}

// find appends the hits in text that begin before limit. The eight bytes after text must be there, whatever they are.
func (s *sampler) find(hits []Hit, literals [][]byte, text []byte, limit int) []Hit {
	padded := text[:len(text)+maxWindow]
	filter, ofWindow := s.filter, maskOf(s.stride+bits.Len64(s.mask)/8-1)
	for at := 0; at < len(text); at += s.stride {
		hash := s.hash(binary.LittleEndian.Uint64(padded[at:]))
		if filter[hash/64]>>(hash%64)&1 == 0 {
			continue
		}
		for _, g := range s.grams[s.heads[hash]:s.heads[hash+1]] {
			window := at - g.before
			if window < 0 || binary.LittleEndian.Uint64(padded[window:])&ofWindow != g.window {
				continue
			}
			begin := window - g.start
			if begin >= 0 && begin < limit && bytes.HasPrefix(text[begin:], literals[g.literal]) {
				hits = append(hits, Hit{Literal: g.literal, Offset: int64(begin)})
			}
		}
	}
	return hits
}

func (s *sampler) hash(word uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15                 // the golden ratio, as Knuth has it
	return (word & s.mask) * odd >> (s.shift % 64) // %: the compiler need not care for more
}

// load reads up to eight bytes as a word, the first one lowest.
func load(text []byte) uint64 {
	var word [8]byte
	copy(word[:], text)
	return binary.LittleEndian.Uint64(word[:])
}

// maskOf covers the first bytes of a word: 1 to 8 of them.
func maskOf(count int) uint64 {
	return ^uint64(0) >> (64 - 8*count)
}
