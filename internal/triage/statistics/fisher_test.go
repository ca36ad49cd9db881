package statistics_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"salve/internal/triage/statistics"
)

const precision = 1e-9

func near(got, want float64) bool { return math.Abs(got-want) <= precision*math.Abs(want) }

// TestFisherGivesTheOracleValues: they count passes of a sample against passes of its base, so that «greater» is about
// the failures of the sample.
func TestFisherGivesTheOracleValues(t *testing.T) {
	for _, of := range []struct {
		passed, rows, basePassed, baseRows int
		want                               float64
	}{
		{51, 100, 910, 1000, 1.8251046156331867e-21},
		{13, 15, 15, 15, 0.2413793103448262},
		{0, 15, 15, 15, 6.446725037893782e-09},
	} {
		table := statistics.Table{
			FailedWith: of.rows - of.passed, PassedWith: of.passed,
			FailedWithout: of.baseRows - of.basePassed, PassedWithout: of.basePassed,
		}
		if got := fisher(t, table); !near(got, of.want) {
			t.Errorf("%+v: p = %v, not %v", table, got, of.want)
		}
	}
}

// TestFisherOfTheWorkedExample: one cluster explains most failures and hides another, and the bootstrap mode none.
func TestFisherOfTheWorkedExample(t *testing.T) {
	for name, of := range map[string]struct {
		table     statistics.Table
		low, high float64 // what rounds to the figure of the example
	}{
		"cluster A":                {statistics.Table{104, 8, 11, 197}, 1.05e-60, 1.15e-60},
		"cluster B, crude":         {statistics.Table{11, 29, 104, 176}, 0.915, 0.925},
		"cluster B without A":      {statistics.Table{11, 29, 0, 168}, 3.75e-9, 3.85e-9},
		"scriptless":               {statistics.Table{53, 97, 62, 108}, 0.625, 0.635},
		"cluster A without passes": {statistics.Table{104, 0, 11, 0}, 1, 1},
	} {
		if got := fisher(t, of.table); got < of.low || got > of.high {
			t.Errorf("%s: p = %v", name, got)
		}
	}
}

func TestFisherIsTheSumOverAllTables(t *testing.T) {
	for a := range 7 {
		for b := range 7 {
			for c := range 7 {
				for d := range 7 {
					compareWithEnumeration(t, statistics.Table{a, b, c, d})
				}
			}
		}
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		compareWithEnumeration(t, randomTable(chance, 400))
	}
}

// TestFisherOfBigTables: no term overflows, none vanishes, and the precision stays.
func TestFisherOfBigTables(t *testing.T) {
	for _, table := range []statistics.Table{
		{5100, 4900, 5000, 5000}, {5000, 5000, 5100, 4900}, {4000, 2, 3, 6000}, {1, 9999, 0, 9999}, {0, 9999, 9999, 1},
	} {
		compareWithEnumeration(t, table)
	}
	table := statistics.Table{50_000, 0, 0, 50_000}
	if got := fisher(t, table); got != 0 {
		t.Errorf("p = %v: a float64 can't hold it", got)
	}
	logP, err := statistics.LogFisherGreater(table)
	if want := -logOf(new(big.Int).Binomial(100_000, 50_000)); err != nil || !near(logP, want) {
		t.Errorf("log p = %v, not %v (%v)", logP, want, err)
	}
}

// TestFisherSymmetries: rows and columns can change places, and both tails share the table itself.
func TestFisherSymmetries(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		table := randomTable(chance, 60)
		a, b, c, d := table.FailedWith, table.PassedWith, table.FailedWithout, table.PassedWithout
		p := fisher(t, table)
		for _, same := range []statistics.Table{{a, c, b, d}, {d, b, c, a}} {
			if got := fisher(t, same); !near(got, p) {
				t.Fatalf("%+v: p = %v, and %+v: %v", table, p, same, got)
			}
		}
		if other := fisher(t, statistics.Table{c, d, a, b}); p+other < 1-precision {
			t.Fatalf("%+v: the tails %v and %v leave a gap", table, p, other)
		}
		if b > 0 && c > 0 { // the same margins, one more failure with the value
			if more := fisher(t, statistics.Table{a + 1, b - 1, c - 1, d + 1}); more > p*(1+precision) {
				t.Fatalf("%+v: p = %v, and %v with a failure more", table, p, more)
			}
		}
	}
}

func fisher(t *testing.T, table statistics.Table) float64 {
	t.Helper()
	p, err := statistics.FisherGreater(table)
	if err != nil {
		t.Fatal(err)
	}
	if !(p >= 0 && p <= 1) {
		t.Fatalf("%+v: p = %v", table, p)
	}
	return p
}

// compareWithEnumeration counts, in whole numbers, the ways to draw tables with the same margins and at least as many
// failures with the value.
func compareWithEnumeration(t *testing.T, table statistics.Table) {
	t.Helper()
	with, without := int64(table.With().Of), int64(table.Without().Of)
	failed := int64(table.Coverage().Of)
	ways := new(big.Int)
	term := new(big.Int)
	for a := int64(table.FailedWith); a <= min(with, failed); a++ {
		if a == int64(table.FailedWith) {
			term.Mul(new(big.Int).Binomial(with, a), new(big.Int).Binomial(without, failed-a))
		} else { // the term before, times what changes
			term.Mul(term, big.NewInt((with-a+1)*(failed-a+1)))
			term.Quo(term, big.NewInt(a*(without-failed+a)))
		}
		ways.Add(ways, term)
	}
	want, _ := new(big.Rat).SetFrac(ways, new(big.Int).Binomial(with+without, failed)).Float64()
	if got := fisher(t, table); !near(got, want) {
		t.Fatalf("%+v: p = %v, not %v", table, got, want)
	}
}

// logOf is the natural logarithm of a number that no float64 holds.
func logOf(n *big.Int) float64 {
	mantissa := new(big.Float)
	exponent := new(big.Float).SetInt(n).MantExp(mantissa)
	value, _ := mantissa.Float64()
	return math.Log(value) + float64(exponent)*math.Ln2
}

func randomTable(chance *rand.Rand, limit int) statistics.Table {
	return statistics.Table{
		FailedWith: chance.IntN(limit), PassedWith: chance.IntN(limit),
		FailedWithout: chance.IntN(limit), PassedWithout: chance.IntN(limit),
	}
}
