package diagnostic

import (
	"fmt"
	"strings"
)

// nearest is the candidate that a name was probably meant to be; ok is false
// when none is near. One that differs in case only is nearest.
func nearest(name string, candidates []string) (nearest string, ok bool) {
	best := 1 + min(2, len(name)/3)
	for _, candidate := range candidates {
		if difference := len(candidate) - len(name); difference >= best || -difference >= best {
			continue
		}
		if distance := editDistance(strings.ToLower(name), strings.ToLower(candidate)); distance < best {
			best, nearest, ok = distance, candidate, true
		}
	}
	return nearest, ok
}

// DidYouMean is the question for a name that isn't known; empty where nothing is
// near.
func DidYouMean(name string, candidates []string) string {
	if meant, ok := nearest(name, candidates); ok {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return ""
}

// Speller suggests names as long as that isn't too much work: a file can hold as
// many wrong names as right ones.
type Speller struct{ compared int }

// mostCompared bounds how many names a speller compares in all.
const mostCompared = 200_000

// DidYouMean is the question for a name that isn't known.
func (s *Speller) DidYouMean(name string, candidates []string) string {
	if s.compared += len(candidates); s.compared > mostCompared {
		return ""
	}
	return DidYouMean(name, candidates)
}

// editDistance counts the letters to add, drop, change or swap with their
// neighbour that turn one word into another.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
