package decision

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage"
	"salve/internal/triage/cause"
)

// someRows are scenarios of tests in a few clusters, some of which are bad, each on a node of its own or one of few.
func someRows(random *rand.Rand, scenarios int) *cause.Rows {
	rows := &cause.Rows{Attributes: []cause.Attribute{
		{Name: "cluster", Values: []string{"", "a", "b", "c"}}, {Name: "node", Values: []string{""}},
		{Name: "os", Values: []string{"", "linux", "windows"}},
	}, Values: make([][]uint32, 3)}
	for i := range scenarios {
		cluster, os := random.IntN(4), random.IntN(3)
		outcome := cause.Passed
		switch {
		case random.IntN(20) == 0:
			outcome = cause.LeftOut
		case cluster == 1 && random.IntN(10) > 0, random.IntN(30) == 0:
			outcome = cause.Outcome(1 + random.IntN(2))
		}
		node := random.IntN(len(rows.Attributes[1].Values))
		if random.IntN(2) == 0 {
			node = len(rows.Attributes[1].Values)
			rows.Attributes[1].Values = append(rows.Attributes[1].Values, fmt.Sprint("node-", i))
		}
		rows.Outcomes, rows.Tests = append(rows.Outcomes, outcome), append(rows.Tests, i/3)
		for a, value := range []int{cluster, node, os} {
			rows.Values[a] = append(rows.Values[a], uint32(value))
		}
	}
	return rows
}

// shuffled are the same scenarios in another order, of which the values are numbered in another order.
func shuffled(random *rand.Rand, rows *cause.Rows) *cause.Rows {
	other := &cause.Rows{
		Attributes: make([]cause.Attribute, len(rows.Attributes)), Values: make([][]uint32, len(rows.Values)),
	}
	order := random.Perm(len(rows.Outcomes))
	columns := random.Perm(len(rows.Attributes))
	for _, row := range order {
		other.Outcomes, other.Tests = append(other.Outcomes, rows.Outcomes[row]), append(other.Tests, rows.Tests[row])
	}
	for to, from := range columns {
		attribute := rows.Attributes[from]
		number := append([]int{0}, random.Perm(len(attribute.Values)-1)...)
		values := make([]string, len(attribute.Values))
		for v := range attribute.Values {
			if v > 0 {
				number[v]++
			}
			values[number[v]] = attribute.Values[v]
		}
		other.Attributes[to] = cause.Attribute{Name: attribute.Name, Values: values}
		for _, row := range order {
			other.Values[to] = append(other.Values[to], uint32(number[rows.Values[from][row]]))
		}
	}
	return other
}

func reaches(rows *cause.Rows) []Reach {
	reach := make([]Reach, len(rows.Outcomes))
	for row := range reach { // of what is the same in any order
		reach[row] = Reach(rows.Tests[row] % 3)
	}
	return reach
}

// TestCountedScenariosGiveTheSameCauses: nothing that causes are found by is lost, but for the names of values that can
// be none, and the order of rows says nothing.
func TestCountedScenariosGiveTheSameCauses(t *testing.T) {
	t0 := triage.Default()
	taken := 0
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 1))
		rows := someRows(random, 20+random.IntN(200))
		want, err := cause.Find(rows, t0)
		if err != nil {
			t.Fatal(err)
		}
		counted := Count(rows, reaches(rows), t0)
		again := shuffled(random, rows)
		if diff := cmp.Diff(counted, Count(again, reaches(again), t0)); diff != "" {
			t.Fatalf("seed %d: in another order:\n%s", seed, diff)
		}
		back, _, err := ReadBack(*counted)
		if err != nil {
			t.Fatal(err)
		}
		e := back.expand([]cause.Outcome{1, 2})
		got, err := cause.Find(&e.rows, t0)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d groups, want %d", seed, len(got), len(want))
		}
		for i := range got {
			if diff := cmp.Diff(want[i].Cause, got[i].Cause); diff != "" || !cmp.Equal(want[i].Unknown, got[i].Unknown) {
				t.Fatalf("seed %d, group %d: %v %v\n%s", seed, i+1, want[i].Unknown, got[i].Unknown, diff)
			}
			taken += len(got[i].Candidates)
		}
	}
	if taken < 40 {
		t.Errorf("only %d causes were found", taken)
	}
}

// TestAValueOfFewScenariosIsToldApartIfOneFails, or if the thresholds would take it.
func TestAValueOfFewScenariosIsToldApartIfOneFails(t *testing.T) {
	rows := &cause.Rows{
		Attributes: []cause.Attribute{{Name: "node", Values: []string{"", "one", "two", "three", "failing", "left"}}},
		Outcomes:   []cause.Outcome{0, 0, 0, 0, 0, 0, 1, cause.LeftOut},
		Tests:      []int{0, 1, 2, 3, 4, 5, 6, 7},
		Values:     [][]uint32{{1, 2, 2, 3, 3, 3, 4, 5}},
	}
	few := triage.Default()
	few.EligibleRows = 2
	for name, row := range map[string]struct {
		thresholds triage.Thresholds
		want       []string
	}{
		"by the usual thresholds":               {triage.Default(), []string{"failing", "three"}},
		"by thresholds that take few scenarios": {few, []string{"failing", "left", "one", "three", "two"}},
	} {
		if got := Count(rows, nil, row.thresholds).Attributes[0].Values; !cmp.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	o := Observed{Scenarios: Count(rows, nil, triage.Default()), Ways: []Way{{Key: "g1-a", Failures: 1}}}
	if _, err := Examine(o, few); err == nil || err.Error() !=
		"unreplayable: the record does not have values that fewer than 3 scenarios have" {
		t.Errorf("taken from values that were not told apart: %v", err)
	}
	if _, err := Examine(o, triage.Default()); err != nil {
		t.Error(err)
	}
}

// TestTestsThatAreAlikeAreCounted and not listed.
func TestTestsThatAreAlikeAreCounted(t *testing.T) {
	rows := &cause.Rows{Outcomes: []cause.Outcome{0, 1, 0, 1, 0, 0}, Tests: []int{0, 0, 1, 1, 2, 3}}
	if got := Count(rows, nil, triage.Default()).Tests; !cmp.Equal(got, [][]int{{2, 0}, {2, 0, 1}}) {
		t.Errorf("%v", got)
	}
}

// TestScenariosThatContradictThemselvesAreRefused before anything is worked out from them.
func TestScenariosThatContradictThemselvesAreRefused(t *testing.T) {
	good := `{"attributes":[{"name":"a","values":["x"]}],"rareBelow":3,"outcomes":[0,1],"reach":[1,2],"values":[[1,-1]],` +
		`"tests":[[2,0,1]]}`
	replaced := func(old, by string) string { return strings.Replace(good, old, by, 1) }
	for name, row := range map[string]struct{ raw, want string }{
		"as it was written":           {good, ""},
		"no reach, for nobody knows":  {replaced(`[1,2]`, `null`), ""},
		"a column less":               {replaced(`[[1,-1]]`, `[]`), "0 columns of 1 attributes"},
		"reach of one kind only":      {replaced(`[1,2]`, `[1]`), "1 of reach"},
		"another way of failing":      {replaced(`"outcomes":[0,1]`, `"outcomes":[0,2]`), "failed in way 2 of 1"},
		"a value that there is not":   {replaced(`[[1,-1]]`, `[[2,0]]`), "value 2 of 1"},
		"a value for each kind":       {replaced(`[[1,-1]]`, `[[1]]`), "1 values for 2 kinds"},
		"a test of no kind":           {replaced(`[2,0,1]`, `[2,0,9]`), "of no kind"},
		"a test without scenarios":    {replaced(`[2,0,1]`, `[2]`), "of no kind"},
		"no tests of a kind":          {replaced(`[2,0,1]`, `[0,0,1]`), "of no kind"},
		"more scenarios than fit":     {replaced(`[2,0,1]`, `[9000000000000000000,0,1]`), "are more than"},
		"more scenarios in several":   {replaced(`[2,0,1]`, `[8388000,0,1],[8388000,0,1]`), "are more than"},
		"other failures than the way": {replaced(`[2,0,1]`, `[3,0,1]`), "has 2 failures, and 3 scenarios"},
	} {
		var s Scenarios
		if err := json.Unmarshal([]byte(row.raw), &s); err != nil {
			t.Fatal(err)
		}
		err := Observed{Scenarios: &s, Ways: []Way{{Failures: 2}}}.Validate()
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
