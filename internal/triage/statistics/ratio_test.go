package statistics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"salve/internal/triage/statistics"
)

// TestRiskRatioByHand: (11.5/41) / (104.5/281), with the spread of its logarithm.
func TestRiskRatioByHand(t *testing.T) {
	got := riskRatio(t, statistics.Table{11, 29, 104, 176})
	deviation := math.Sqrt(1/11.5 - 1/41.0 + 1/104.5 - 1/281.0)
	if !near(got.Estimate, 11.5/41/(104.5/281)) || !near(got.Lower, got.Estimate*math.Exp(-1.959963984540054*deviation)) {
		t.Errorf("%+v", got)
	}
}

// TestRiskRatioIsFinite where no row failed, or all did, and grows with the failures.
func TestRiskRatioIsFinite(t *testing.T) {
	chance := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		table := randomTable(chance, 30)
		if table.With().Of == 0 || table.Without().Of == 0 {
			continue
		}
		got := riskRatio(t, table)
		if !(0 < got.Lower && got.Lower < got.Estimate && got.Estimate < got.Upper) || math.IsInf(got.Upper, 0) {
			t.Fatalf("%+v: %+v", table, got)
		}
		a, b, c, d := table.FailedWith, table.PassedWith, table.FailedWithout, table.PassedWithout
		if turned := riskRatio(t, statistics.Table{c, d, a, b}); !near(turned.Lower*got.Upper, 1) {
			t.Fatalf("%+v: %+v, turned %+v", table, got, turned)
		}
		if b > 0 && riskRatio(t, statistics.Table{a + 1, b - 1, c, d}).Lower <= got.Lower {
			t.Fatalf("%+v: a failure more lowers the lower limit", table)
		}
	}
}

// TestMantelHaenszelOfOneStratum is its odds ratio, with the variance of Woolf.
func TestMantelHaenszelOfOneStratum(t *testing.T) {
	chance := rand.New(rand.NewPCG(13, 14))
	for range 500 {
		table := randomTable(chance, 50)
		a, b := float64(table.FailedWith+1), float64(table.PassedWith+1)
		c, d := float64(table.FailedWithout+1), float64(table.PassedWithout+1)
		got := commonOdds(t, statistics.Table{int(a), int(b), int(c), int(d)})
		if !near(got.Ratio, a*d/(b*c)) || !near(got.Variance, 1/a+1/b+1/c+1/d) || got.Corrected {
			t.Fatalf("%+v: %+v", table, got)
		}
	}
}

// TestMantelHaenszelOfEqualStrata: two strata with the same table say the same twice as surely.
func TestMantelHaenszelOfEqualStrata(t *testing.T) {
	stratum := statistics.Table{12, 5, 7, 30}
	one, two := commonOdds(t, stratum), commonOdds(t, stratum, stratum)
	if !near(two.Ratio, one.Ratio) || !near(two.Log, one.Log) || !near(two.Variance, one.Variance/2) {
		t.Errorf("%+v, %+v", one, two)
	}
}

// TestMantelHaenszelOfAConfounder: the crude table blames a value that has no effect within any stratum.
func TestMantelHaenszelOfAConfounder(t *testing.T) {
	sick, well := statistics.Table{72, 8, 18, 2}, statistics.Table{1, 19, 4, 76}
	crude := commonOdds(t, statistics.Table{73, 27, 22, 78})
	stratified := commonOdds(t, sick, well)
	if crude.Log < 2 || math.Abs(stratified.Log) > precision {
		t.Errorf("crude %+v, stratified %+v", crude, stratified)
	}
}

// TestMantelHaenszelOfTheWorkedExample: what cluster A explains has no say, and cluster B then fails alone.
func TestMantelHaenszelOfTheWorkedExample(t *testing.T) {
	clusterA, others := statistics.Table{0, 0, 104, 8}, statistics.Table{11, 29, 0, 168}
	crude := commonOdds(t, statistics.Table{11, 29, 104, 176})
	got := commonOdds(t, clusterA, others)
	if crude.Log >= 0 || got.Log <= 2 || !got.Corrected {
		t.Errorf("crude %+v, stratified %+v", crude, got)
	}
	if want := 11.5 * 168.5 / (29.5 * 0.5); !near(got.Ratio, want) {
		t.Errorf("%+v, not %v: half a row in each cell of the stratum that compares, and in no other", got, want)
	}
}

func TestMantelHaenszelTurnsWithItsTables(t *testing.T) {
	chance := rand.New(rand.NewPCG(15, 16))
	for range 1000 {
		strata := make([]statistics.Table, 1+chance.IntN(4))
		turned := make([]statistics.Table, len(strata))
		for i := range strata {
			s := randomTable(chance, 5)
			strata[i] = s
			turned[i] = statistics.Table{s.FailedWithout, s.PassedWithout, s.FailedWith, s.PassedWith}
		}
		got, err := statistics.MantelHaenszel(strata)
		other, errTurned := statistics.MantelHaenszel(turned)
		if err != nil || errTurned != nil {
			if !errors.Is(err, statistics.ErrNoRows) || !errors.Is(errTurned, statistics.ErrNoRows) {
				t.Fatal(err, errTurned)
			}
			continue
		}
		if !finite(got.Ratio, got.Log, got.Variance) || got.Variance <= 0 {
			t.Fatalf("%+v: %+v", strata, got)
		}
		if math.Abs(got.Log+other.Log) > precision || !near(got.Variance, other.Variance) {
			t.Fatalf("%+v: %+v, turned %+v", strata, got, other)
		}
	}
}

// TestInvalidTablesAreRefused, and so are comparisons with nothing.
func TestInvalidTablesAreRefused(t *testing.T) {
	answers := map[string]func(statistics.Table) error{
		"Fisher":    func(t statistics.Table) error { _, err := statistics.FisherGreater(t); return err },
		"RiskRatio": func(t statistics.Table) error { _, err := statistics.RiskRatio(t); return err },
		"MantelHaenszel": func(t statistics.Table) error {
			_, err := statistics.MantelHaenszel([]statistics.Table{t})
			return err
		},
	}
	for name, answer := range answers {
		for _, invalid := range []statistics.Table{{-1, 2, 3, 4}, {1, 2, 3, -4}, {1, math.MaxInt, 1, 1}} {
			if err := answer(invalid); err == nil || errors.Is(err, statistics.ErrNoRows) {
				t.Errorf("%s of %+v: %v", name, invalid, err)
			}
		}
		want := statistics.ErrNoRows
		if name == "Fisher" {
			want = nil // p = 1: nothing is shown
		}
		if err := answer(statistics.Table{3, 4, 0, 0}); !errors.Is(err, want) {
			t.Errorf("%s of a table without other rows: %v", name, err)
		}
	}
}

// FuzzStatistics: whatever the counts, an answer is finite and in its range, or an error.
func FuzzStatistics(f *testing.F) {
	f.Add(104, 8, 11, 197)
	f.Add(0, 0, 0, 0)
	f.Add(1, 0, 0, 1<<30)
	f.Add(1<<30, 1<<30, 1<<30, 1<<30)
	f.Add(-1, math.MaxInt, math.MinInt, 3)
	f.Fuzz(func(t *testing.T, a, b, c, d int) {
		table := statistics.Table{a, b, c, d}
		if p, err := statistics.FisherGreater(table); err == nil && !(p >= 0 && p <= 1) {
			t.Errorf("Fisher %v", p)
		}
		if got, err := statistics.RiskRatio(table); err == nil &&
			(!finite(got.Estimate, got.Lower, got.Upper) || got.Lower <= 0) {
			t.Errorf("RiskRatio %+v", got)
		}
		if got, err := statistics.MantelHaenszel([]statistics.Table{table, {d, c, b, a}, {3, 4, 5, 6}}); err == nil &&
			(!finite(got.Ratio, got.Log, got.Variance) || got.Variance <= 0) {
			t.Errorf("MantelHaenszel %+v", got)
		}
		p, q := statistics.Proportion{Count: a, Of: b}, statistics.Proportion{Count: c, Of: d}
		if got, err := statistics.Wilson(p); err == nil &&
			!(0 <= got.Lower && got.Lower < got.Upper && got.Upper <= 1) {
			t.Errorf("Wilson %+v", got)
		}
		if got, err := statistics.Newcombe(p, q); err == nil &&
			!(-1 <= got.Lower && got.Lower <= got.Upper && got.Upper <= 1) {
			t.Errorf("Newcombe %+v", got)
		}
	})
}

func finite(values ...float64) bool {
	for _, value := range values {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return false
		}
	}
	return true
}

func riskRatio(t *testing.T, table statistics.Table) statistics.Ratio {
	t.Helper()
	got, err := statistics.RiskRatio(table)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func commonOdds(t *testing.T, strata ...statistics.Table) statistics.CommonOdds {
	t.Helper()
	got, err := statistics.MantelHaenszel(strata)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
