package cause_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/cause"
)

var nulls = flag.Int("nulls", 2_000, "runs of TestNothingIsFoundWhereThereIsNothing")

// TestNothingIsFoundWhereThereIsNothing: runs with 40 attributes that have nothing to do with the failures. At most one
// in a hundred may name a cause. make bench-triage has 10,000 of them.
func TestNothingIsFoundWhereThereIsNothing(t *testing.T) {
	t.Parallel()
	runs := *nulls
	random := rand.New(rand.NewPCG(13, 1))
	wrong := 0
	for range runs {
		rows := randomRows(random, 120, 40)
		for row := range rows.Outcomes {
			rows.Outcomes[row] = outcome(coin(random, 0.15))
		}
		wrong += len(candidates(t, rows))
	}
	t.Logf("%d false causes in %d runs", wrong, runs)
	if wrong > runs/100 {
		t.Errorf("%d false causes in %d runs: at most 1 %%", wrong, runs)
	}
}

// TestAPlantedCauseIsFound: 50 % against 10 % among 320 scenarios. Among 60 nothing wrong may be said.
func TestAPlantedCauseIsFound(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		scenarios int
		least     int // per mille of runs in which it is found
	}{{320, 950}, {60, 0}} {
		t.Run(fmt.Sprint(row.scenarios), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(13, 2))
			found, wrong := 0, 0
			const runs = 1_000
			for range runs {
				rows := randomRows(random, row.scenarios, 10)
				for i := range rows.Outcomes {
					p := 0.10
					if rows.Values[0][i] == 1 {
						p = 0.50
					}
					rows.Outcomes[i] = outcome(coin(random, p))
				}
				for _, c := range candidates(t, rows) {
					if c == "a0=1" {
						found++
					} else {
						wrong++
					}
				}
			}
			t.Logf("found in %d of %d runs, %d wrong ones", found, runs, wrong)
			if found*1000 < row.least*runs || wrong > runs/100 {
				t.Errorf("found in %d of %d runs, %d wrong ones", found, runs, wrong)
			}
		})
	}
}

// TestTheOrderOfRowsAndAttributesSaysNothing: shuffled, the same is found.
func TestTheOrderOfRowsAndAttributesSaysNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 3))
	for range 50 {
		rows := randomRows(random, 200, 6)
		for i := range rows.Outcomes {
			rows.Outcomes[i] = outcome(coin(random, 0.1+0.6*float64(rows.Values[0][i]%2)))
		}
		want := candidates(t, rows)
		random.Shuffle(len(rows.Outcomes), func(i, j int) {
			rows.Outcomes[i], rows.Outcomes[j] = rows.Outcomes[j], rows.Outcomes[i]
			rows.Tests[i], rows.Tests[j] = rows.Tests[j], rows.Tests[i]
			for _, column := range rows.Values {
				column[i], column[j] = column[j], column[i]
			}
		})
		random.Shuffle(len(rows.Attributes), func(i, j int) {
			rows.Attributes[i], rows.Attributes[j] = rows.Attributes[j], rows.Attributes[i]
			rows.Values[i], rows.Values[j] = rows.Values[j], rows.Values[i]
		})
		if got := candidates(t, rows); !slices.Equal(got, want) {
			t.Fatalf("shuffled %v, before %v", got, want)
		}
	}
}

// TestTablesAreAsCountedByHand compares the quick count with one that looks at every row for every value.
func TestTablesAreAsCountedByHand(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 4))
	for range 300 {
		rows := randomRows(random, 60+random.IntN(100), 3)
		for i := range rows.Outcomes {
			rows.Tests[i] = random.IntN(40)
			rows.Outcomes[i] = cause.Outcome(random.IntN(4) - 1)
			if rows.Values[0][i] == 1 && coin(random, 0.8) {
				rows.Outcomes[i] = 1
			}
		}
		if difference := cause.CountBothWays(rows); difference != "" {
			t.Fatal(difference)
		}
	}
}

// randomRows have attributes a0, a1, … of four values each, that nothing depends on.
func randomRows(random *rand.Rand, scenarios, attributes int) *cause.Rows {
	rows := &cause.Rows{Outcomes: make([]cause.Outcome, scenarios), Tests: make([]int, scenarios)}
	for row := range scenarios {
		rows.Tests[row] = row
	}
	for i := range attributes {
		rows.Attributes = append(rows.Attributes,
			cause.Attribute{Name: fmt.Sprint("a", i), Values: []string{"", "1", "2", "3", "4"}})
		column := make([]uint32, scenarios)
		for row := range column {
			column[row] = 1 + random.Uint32N(4)
		}
		rows.Values = append(rows.Values, column)
	}
	return rows
}

func outcome(failed bool) cause.Outcome {
	if failed {
		return 1
	}
	return cause.Passed
}

func candidates(t *testing.T, rows *cause.Rows) []string {
	t.Helper()
	found, err := cause.Find(rows, triage.Default())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range found {
		out = append(out, names(f.Candidates)...)
	}
	return out
}
