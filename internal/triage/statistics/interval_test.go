package statistics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"salve/internal/triage/statistics"
)

// TestWilson against the figures of Newcombe's paper of 1998 on single proportions, table I.
func TestWilson(t *testing.T) {
	for _, of := range []struct {
		of           statistics.Proportion
		lower, upper float64
	}{
		{statistics.Proportion{81, 263}, 0.2553, 0.3662},
		{statistics.Proportion{15, 148}, 0.0624, 0.1605},
		{statistics.Proportion{0, 20}, 0, 0.1611},
		{statistics.Proportion{1, 29}, 0.0061, 0.1718},
	} {
		got, err := statistics.Wilson(of.of)
		if err != nil || !rounds(got.Lower, of.lower, 4) || !rounds(got.Upper, of.upper, 4) {
			t.Errorf("%v: %v (%v)", of.of, got, err)
		}
	}
}

func TestWilsonHoldsTheRateAndIsSymmetric(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		n := 1 + chance.IntN(500)
		k := chance.IntN(n + 1)
		got, mirrored := wilson(t, statistics.Proportion{k, n}), wilson(t, statistics.Proportion{n - k, n})
		rate := float64(k) / float64(n)
		if got.Lower < 0 || got.Lower > rate || got.Upper < rate || got.Upper > 1 || got.Lower == got.Upper {
			t.Fatalf("%d of %d: %v", k, n, got)
		}
		if math.Abs(got.Lower-(1-mirrored.Upper)) > precision {
			t.Fatalf("%d of %d: %v, and mirrored %v", k, n, got, mirrored)
		}
		tenfold := wilson(t, statistics.Proportion{10 * k, 10 * n})
		if tenfold.Upper-tenfold.Lower >= got.Upper-got.Lower {
			t.Fatalf("%d of %d: ten times the rows don't narrow %v: %v", k, n, got, tenfold)
		}
	}
}

// TestNewcombe against the figures of the paper of 1998 on differences, table II, method 10.
func TestNewcombe(t *testing.T) {
	for _, of := range []struct {
		p, q         statistics.Proportion
		lower, upper float64
	}{
		{statistics.Proportion{56, 70}, statistics.Proportion{48, 80}, 0.0524, 0.3339},
		{statistics.Proportion{9, 10}, statistics.Proportion{3, 10}, 0.1705, 0.8090},
		{statistics.Proportion{5, 56}, statistics.Proportion{0, 29}, -0.0381, 0.1926},
		{statistics.Proportion{10, 10}, statistics.Proportion{0, 10}, 0.6075, 1},
	} {
		got := newcombe(t, of.p, of.q)
		if !rounds(got.Lower, of.lower, 4) || !rounds(got.Upper, of.upper, 4) {
			t.Errorf("%v − %v: %+v", of.p, of.q, got)
		}
	}
}

// TestNewcombeOfTheWorkedExample: scriptless less default is −1.1 points [−11.5, +9.3].
func TestNewcombeOfTheWorkedExample(t *testing.T) {
	got := newcombe(t, statistics.Proportion{53, 150}, statistics.Proportion{62, 170})
	if !rounds(got.Estimate, -0.011, 3) || !rounds(got.Lower, -0.115, 3) || !rounds(got.Upper, 0.093, 3) {
		t.Errorf("%+v", got)
	}
}

func TestNewcombeTurnsWithItsArguments(t *testing.T) {
	chance := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		table := randomTable(chance, 200)
		p, q := table.With(), table.Without()
		if p.Of == 0 || q.Of == 0 {
			continue
		}
		got, turned := newcombe(t, p, q), newcombe(t, q, p)
		if got.Lower > got.Estimate || got.Upper < got.Estimate || got.Lower < -1 || got.Upper > 1 {
			t.Fatalf("%v − %v: %+v", p, q, got)
		}
		if math.Abs(got.Lower+turned.Upper) > precision || math.Abs(got.Upper+turned.Lower) > precision {
			t.Fatalf("%v − %v: %+v, turned %+v", p, q, got, turned)
		}
	}
}

func TestProportionsOfNothingAreRefused(t *testing.T) {
	some := statistics.Proportion{1, 2}
	if _, err := statistics.Wilson(statistics.Proportion{}); !errors.Is(err, statistics.ErrNoRows) {
		t.Error(err)
	}
	if _, err := statistics.Newcombe(some, statistics.Proportion{}); !errors.Is(err, statistics.ErrNoRows) {
		t.Error(err)
	}
	for _, invalid := range []statistics.Proportion{{3, 2}, {-1, 2}, {1, 0}, {-2, -1}, {0, math.MaxInt}} {
		if got, err := statistics.Wilson(invalid); err == nil {
			t.Errorf("%v: %v", invalid, got)
		}
		if got, err := statistics.Newcombe(some, invalid); err == nil {
			t.Errorf("%v: %v", invalid, got)
		}
	}
}

func wilson(t *testing.T, p statistics.Proportion) statistics.Interval {
	t.Helper()
	got, err := statistics.Wilson(p)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func newcombe(t *testing.T, p, q statistics.Proportion) statistics.Difference {
	t.Helper()
	got, err := statistics.Newcombe(p, q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// rounds says whether a figure that is published with so many digits is this one.
func rounds(got, published float64, digits int) bool {
	return math.Abs(got-published) <= 0.5*math.Pow10(-digits)+1e-12
}
