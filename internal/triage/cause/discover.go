package cause

import (
	"math"

	"salve/internal/triage/statistics"
)

// discover fills in the q values. Only values with a failure have a table; the other eligible ones have p = 1, which
// changes the number of tests and nothing else.
func discover(found []association, eligible int) error {
	if len(found) == 0 {
		return nil
	}
	p := make([]float64, len(found))
	for i, a := range found {
		p[i] = math.Exp(a.logP)
	}
	q, err := statistics.BenjaminiHochberg(p)
	if err != nil {
		return err
	}
	scale := float64(max(eligible, len(found))) / float64(len(found))
	for i := range found {
		found[i].q = min(1, q[i]*scale)
	}
	return nil
}
