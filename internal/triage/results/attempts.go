package results

import "crypto/sha256"

// attempts counts how often a case was seen in a file, without keeping its name.
type attempts map[[16]byte]uint16

// maxCounted bounds the memory of attempts: later cases are all first attempts.
const maxCounted = 1 << 18

// next is the number of the attempt that begins.
func (a attempts) next(c *Case) int {
	sum := sha256.Sum256([]byte(c.Suite + "\x00" + c.Class + "\x00" + c.Name))
	key := [16]byte(sum[:16])
	n := a[key]
	if n == 0 && len(a) >= maxCounted || n == 1<<16-1 {
		return int(n) + 1
	}
	a[key] = n + 1
	return int(n) + 1
}
