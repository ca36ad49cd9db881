package azuresim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// seeded derives every name, identifier and delay from the seed and from what it is for. Nothing is drawn from a shared
// stream: the order of concurrent calls does not change what anything is called.
type seeded struct {
	seed   int64
	counts map[string]int
}

func newSeeded(seed int64) *seeded {
	return &seeded{seed: seed, counts: map[string]int{}}
}

func (s *seeded) sum(parts ...string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d|%s", s.seed, strings.Join(parts, "|")))
}

// next numbers the things of one kind.
func (s *seeded) next(kind string) int {
	s.counts[kind]++
	return s.counts[kind]
}

// uuid identifies the next thing of that kind.
func (s *seeded) uuid(kind string) string {
	h := s.sum("uuid", kind, fmt.Sprint(s.next(kind)))
	h[6] = h[6]&0x0f | 0x40
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

func (s *seeded) number(parts ...string) uint64 {
	h := s.sum(parts...)
	return binary.BigEndian.Uint64(h[:8])
}

// digits is a number of exactly eight digits.
func (s *seeded) digits(parts ...string) string {
	return fmt.Sprintf("%08d", 10_000_000+s.number(append([]string{"digits"}, parts...)...)%90_000_000)
}

// suffix is what a controller appends to a generated name.
func (s *seeded) suffix(parts ...string) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	h := s.sum(append([]string{"suffix"}, parts...)...)
	var b strings.Builder
	for _, c := range h[:5] {
		b.WriteByte(alphabet[int(c)%len(alphabet)])
	}
	return b.String()
}

// between is a delay of at least low and less than high.
func (s *seeded) between(low, high time.Duration, parts ...string) time.Duration {
	if high <= low {
		return low
	}
	span := uint64(high - low) //nolint:gosec // G115: it is above 0
	return low + time.Duration(s.number(append([]string{"delay"}, parts...)...)%span)
}
