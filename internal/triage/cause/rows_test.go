package cause_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/cause"
)

// run builds rows; attributes and values come up as they are named.
type run struct {
	testing.TB
	rows  cause.Rows
	tests map[string]int
}

func newRun(t testing.TB) *run { return &run{TB: t, tests: map[string]int{}} }

// scenario adds a row of a test, with attributes as name, value pairs.
func (r *run) scenario(test string, outcome cause.Outcome, attributes ...string) {
	id, known := r.tests[test]
	if !known {
		id = len(r.tests)
		r.tests[test] = id
	}
	row := len(r.rows.Outcomes)
	r.rows.Outcomes = append(r.rows.Outcomes, outcome)
	r.rows.Tests = append(r.rows.Tests, id)
	for i := range r.rows.Values {
		r.rows.Values[i] = append(r.rows.Values[i], 0)
	}
	for pair := range slices.Chunk(attributes, 2) {
		name, value := pair[0], pair[1]
		r.rows.Values[r.attribute(name)][row] = r.value(name, value)
	}
}

func (r *run) attribute(name string) int {
	i := slices.IndexFunc(r.rows.Attributes, func(a cause.Attribute) bool { return a.Name == name })
	if i < 0 {
		i = len(r.rows.Attributes)
		r.rows.Attributes = append(r.rows.Attributes, cause.Attribute{Name: name, Values: []string{""}})
		r.rows.Values = append(r.rows.Values, make([]uint32, len(r.rows.Outcomes)))
	}
	return i
}

func (r *run) value(name, value string) uint32 {
	attribute := &r.rows.Attributes[r.attribute(name)]
	i := slices.Index(attribute.Values, value)
	if i < 0 {
		i = len(attribute.Values)
		attribute.Values = append(attribute.Values, value)
	}
	return uint32(i)
}

// scenarios adds n rows, each of a test of its own, of which the first ones fail.
func (r *run) scenarios(n, failed int, attributes ...string) {
	for i := range n {
		outcome := cause.Passed
		if i < failed {
			outcome = 1
		}
		r.scenario(fmt.Sprint("Test", len(r.rows.Outcomes)), outcome, attributes...)
	}
}

func (r *run) find() []cause.Found {
	r.Helper()
	found, err := cause.Find(&r.rows, triage.Default())
	if err != nil {
		r.Fatal(err)
	}
	return found
}

// names are the candidates in their order.
func names(candidates []triage.Candidate) []string {
	out := []string{}
	for _, c := range candidates {
		out = append(out, c.Attribute+"="+c.Value)
	}
	return out
}

// coin is true with a probability.
func coin(random *rand.Rand, p float64) bool { return random.Float64() < p }
