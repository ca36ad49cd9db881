package cli

import (
	"fmt"
	"slices"
	"strings"
)

// nearest is the word that a misspelt one may stand for; empty when none is near.
func nearest(word string, words []string) string {
	best, found := max(1, len(word)/3)+1, ""
	for _, candidate := range words {
		if distance := editDistance(strings.ToLower(word), strings.ToLower(candidate)); distance < best {
			best, found = distance, candidate
		}
	}
	return found
}

// didYouMean is the end of a sentence about an unknown word: the word that it may stand for, or all that there are.
func didYouMean(word string, words []string) string {
	if near := nearest(word, words); near != "" {
		return fmt.Sprintf("Did you mean %q?", near)
	}
	sorted := slices.Sorted(slices.Values(words))
	return "Available: " + strings.Join(sorted, ", ")
}

// editDistance counts the letters to change, add, drop or swap with their neighbours.
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}
