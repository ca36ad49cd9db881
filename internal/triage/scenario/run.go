package scenario

import (
	"fmt"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/cause"
	"salve/internal/triage/grouping"
	"salve/internal/triage/results"
)

// Scenario is one row.
type Scenario struct {
	Name    string
	Test    int // which test it is of, from 0
	Outcome results.Outcome
	// Group is that of the last attempt if it failed, as an index of Run.Groups; -1 otherwise.
	Group    int
	Attempts int
	Failed   int // attempts
	// Unfinished says that the last attempt has no result: what ran it ended first.
	Unfinished bool
	Ended      time.Time
	Origin     results.Place
	Message    string // of a failure, bounded
	File       string // of the source, where it failed, as the results name it
	Line       int
	// Observations are of its own texts, all attempts, and of the logs that belong to it.
	Observations []Observed
	Attributes   []results.Attribute // as the results have them; of the last attempt
}

// Observed is what was seen in one text.
type Observed struct {
	results.Observation
	File string
	Last bool // of the last attempt, or of a log
}

// Place is where it failed in the source, empty if the results don't say.
func (s *Scenario) Place() string {
	switch {
	case s.File == "" || !s.Failing():
		return ""
	case s.Line == 0:
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Failing says whether the last attempt failed.
func (s *Scenario) Failing() bool { return s.Outcome.Failed() }

// Group is the failures that look alike.
type Group struct {
	grouping.Identity
	Rows []int // scenarios whose last attempt failed so
	// Recovered are scenarios that failed so and passed when tried again. Insisted is the most attempts of a scenario that
	// failed so in every one.
	Recovered int
	Insisted  int
	Example   triage.Excerpt
	Failure   grouping.Failure // the example's, from which another version could group again
}

// Run is all of a run's scenarios.
type Run struct {
	Scenarios []Scenario
	Groups    []Group // the largest first
	Tests     []string
	Counts    triage.Counts
	Aborted   *triage.Aborted
	Notes     []string
	// Loose are observations of logs that belong to no scenario.
	Loose []Observed
}

// Rows are the scenarios for [cause.Find]; attributes are given by the caller, one list for each scenario, in order.
func (r *Run) Rows(attributes func(row int) []results.Attribute) *cause.Rows {
	rows := &cause.Rows{Outcomes: make([]cause.Outcome, len(r.Scenarios)), Tests: make([]int, len(r.Scenarios))}
	columns, values := map[string]int{}, []map[string]uint32{}
	for row := range r.Scenarios {
		s := &r.Scenarios[row]
		rows.Tests[row], rows.Outcomes[row] = s.Test, cause.LeftOut
		switch {
		case s.Outcome == results.Pass:
			rows.Outcomes[row] = cause.Passed
		case s.Group >= 0:
			rows.Outcomes[row] = cause.Outcome(s.Group + 1)
		}
		for _, a := range attributes(row) {
			column, known := columns[a.Name]
			if !known {
				column = len(columns)
				columns[a.Name] = column
				values = append(values, map[string]uint32{"": 0})
				rows.Attributes = append(rows.Attributes, cause.Attribute{Name: a.Name, Values: []string{""}})
				rows.Values = append(rows.Values, make([]uint32, len(r.Scenarios)))
			}
			index, known := values[column][a.Value]
			if !known {
				index = uint32(len(rows.Attributes[column].Values)) //nolint:gosec // no more than scenarios
				values[column][a.Value] = index
				rows.Attributes[column].Values = append(rows.Attributes[column].Values, a.Value)
			}
			rows.Values[column][row] = index
		}
	}
	return rows
}
