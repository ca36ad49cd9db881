package statistics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"salve/internal/triage/statistics"
)

// TestBenjaminiHochbergOfAKnownList: the fifteen p values of the paper of 1995; at 5 %, four are discoveries.
func TestBenjaminiHochbergOfAKnownList(t *testing.T) {
	p := []float64{
		0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
		0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1,
	}
	q, err := statistics.BenjaminiHochberg(p)
	if err != nil {
		t.Fatal(err)
	}
	discoveries := 0
	for _, value := range q {
		if value <= 0.05 {
			discoveries++
		}
	}
	if discoveries != 4 || !near(q[0], 0.0015) || !near(q[3], 0.035625) || q[14] != 1 {
		t.Errorf("%d discoveries, q = %v", discoveries, q)
	}
}

// TestBenjaminiHochbergByDefinition: q is the least, over all thresholds that would let the value in, of the expected
// false discoveries by the number let in.
func TestBenjaminiHochbergByDefinition(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		p := make([]float64, chance.IntN(20))
		for i := range p {
			p[i] = float64(chance.IntN(12)) / 11 // with equal ones
		}
		q, err := statistics.BenjaminiHochberg(p)
		if err != nil || len(q) != len(p) {
			t.Fatal(q, err)
		}
		for i := range p {
			if want := naiveQ(p, p[i]); math.Abs(q[i]-want) > precision || q[i] < p[i] {
				t.Fatalf("p %v: q[%d] = %v, not %v", p, i, q[i], want)
			}
		}
	}
}

func naiveQ(p []float64, value float64) float64 {
	least := 1.0
	for _, threshold := range p {
		if threshold < value {
			continue
		}
		below := 0
		for _, other := range p {
			if other <= threshold {
				below++
			}
		}
		least = min(least, threshold*float64(len(p))/float64(below))
	}
	return least
}

func TestBenjaminiHochbergRefusesWhatIsNoProbability(t *testing.T) {
	for _, invalid := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if q, err := statistics.BenjaminiHochberg([]float64{0.5, invalid}); err == nil {
			t.Errorf("%v: q = %v", invalid, q)
		}
	}
}

func TestJaccard(t *testing.T) {
	for name, of := range map[string]struct {
		a, b []int
		want float64
	}{
		"equal":       {[]int{1, 4, 9}, []int{1, 4, 9}, 1},
		"disjoint":    {[]int{1, 3}, []int{2, 4}, 0},
		"overlapping": {[]int{1, 2, 3}, []int{2, 3, 4}, 0.5},
		"one empty":   {nil, []int{2}, 0},
	} {
		for _, sets := range [][2][]int{{of.a, of.b}, {of.b, of.a}} {
			if got, err := statistics.Jaccard(sets[0], sets[1]); err != nil || got != of.want {
				t.Errorf("%s: %v (%v), not %v", name, got, err, of.want)
			}
		}
	}
	for name, a := range map[string][]int{"both empty": nil, "twice the same row": {2, 2}, "descending": {2, 1}} {
		if got, err := statistics.Jaccard(a, nil); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}
