package runbooktest

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"salve/runbook"
)

// Rows are what the guards, preconditions and checks of runbooks are swept with, by their names.
type Rows map[string]Row

// Row is what one guard is swept with. Fields are named by paths such as "pool.tags[*]" and "nodes[].name"; what
// stands below one is named with it.
type Row struct {
	// Readings are JSON, as a record keeps it. Each is one that the guard decides on.
	Readings []string
	// Answers are those that the readings have the guard give, all of them. Nil is not looked at.
	Answers []runbook.Answer
	// Said are fields that are told to the operator and decide nothing. Evidence are such as only the finding's evidence
	// shows.
	Said, Evidence []string
	// Unused are fields that change nothing at all, with the reason why they are read.
	Unused map[string]string
}

// SweepGuards takes each field out of each reading of every guard of runbooks, and changes each. Without a field a
// guard must refuse to decide, and name it. With another value of it the guard must decide otherwise in at least one
// reading; a field that does not is in one of the row's lists. A guard without a row, a row without a guard, and a list
// with a field that is not there, or that changes less or more than the list says, are errors. Runbooks are several
// where their inputs tell which guards they have. Guards of one name share a row, and a field changes what it changes
// for any of them.
func SweepGuards(t testing.TB, rows Rows, books ...runbook.Runbook) {
	t.Helper()
	guards := guardsOf(books)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if len(guards[name]) == 0 {
			t.Errorf("guard %s has a row, and no runbook has the guard", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(guards)) {
		row, found := rows[name]
		if !found || len(row.Readings) == 0 {
			t.Errorf("guard %s has no row with readings: nothing shows what it decides by", name)
			continue
		}
		sweepGuard(t, row, guards[name])
	}
}

// guardsOf gives the guards of runbooks by name: guards, checks, and the preconditions of every step.
func guardsOf(books []runbook.Runbook) map[string][]runbook.Guard {
	guards := map[string][]runbook.Guard{}
	add := func(all []runbook.Guard) {
		for _, guard := range all {
			guards[guard.Name] = append(guards[guard.Name], guard)
		}
	}
	for _, book := range books {
		add(book.Guards)
		add(book.Checks)
		for _, step := range slices.Concat(book.Preflight, book.Steps) {
			add(step.Preconditions)
			if step.Rollback != nil {
				add(step.Rollback.Preconditions)
			}
		}
	}
	return guards
}

// sweepGuard sweeps the guards of one name.
func sweepGuard(t testing.TB, row Row, guards []runbook.Guard) {
	t.Helper()
	name := guards[0].Name
	sweep := &fieldSweep{t: t, row: row, made: map[string]difference{}, values: map[string][]any{}}
	values := make([]any, len(row.Readings))
	for i, reading := range row.Readings {
		if err := json.Unmarshal([]byte(reading), &values[i]); err != nil {
			t.Errorf("guard %s, reading %d: %v", name, i, err)
			return
		}
		sweep.collect(values[i], "")
	}
	answers := map[runbook.Answer]bool{}
	for _, guard := range guards {
		if !guard.Recorded() {
			t.Errorf("guard %s decides while it reads: make it with runbook.Ask", name)
			return
		}
		for i, reading := range row.Readings {
			finding, err := guard.Decide(runbook.Reading{Value: json.RawMessage(reading)})
			if err != nil {
				t.Errorf("guard %s, reading %d: %v", name, i, err)
				return
			}
			answers[finding.Answer] = true
			sweep.reading(guard, finding, values[i])
		}
	}
	for _, answer := range row.Answers {
		if !answers[answer] {
			t.Errorf("guard %s: no reading has it answer %s", name, answer)
		}
	}
	for _, answer := range slices.Sorted(maps.Keys(answers)) {
		if row.Answers != nil && !slices.Contains(row.Answers, answer) {
			t.Errorf("guard %s answers %s, which its row does not have", name, answer)
		}
	}
	sweep.report(name)
}
