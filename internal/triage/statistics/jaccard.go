package statistics

import "fmt"

// Jaccard is the share of rows that are in both sets among those in either. A set is a list of row numbers in ascending
// order, each once. Two empty sets have no index: [ErrNoRows].
func Jaccard(a, b []int) (float64, error) {
	for _, set := range [][]int{a, b} {
		for i := 1; i < len(set); i++ {
			if set[i] <= set[i-1] {
				return 0, fmt.Errorf("rows not in ascending order: %d after %d", set[i], set[i-1])
			}
		}
	}
	if len(a)+len(b) == 0 {
		return 0, ErrNoRows
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(a)+len(b)-both), nil
}
