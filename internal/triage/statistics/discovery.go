package statistics

import (
	"fmt"
	"slices"
)

// BenjaminiHochberg gives the q value of each p value, in their order: the smallest share of false discoveries at which
// it would still count as a discovery.
func BenjaminiHochberg(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, value := range p {
		if !(value >= 0 && value <= 1) { // false for NaN as well
			return nil, fmt.Errorf("p value %d: %v is not from 0 to 1", i, value)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return i - j
	})
	q := make([]float64, len(p))
	least := 1.0
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		least = min(least, p[i]*(float64(len(p))/float64(rank)))
		q[i] = least
	}
	return q, nil
}
