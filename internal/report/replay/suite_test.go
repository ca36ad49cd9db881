package replay_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"salve/internal/report/replay"
	"salve/journal"
	"salve/runbook"
)

// suite is of records of lamps: one that was lit, one that was bright, one that decides otherwise now, one that can't
// be read, one that another program has, and one that lacks what a guard takes.
func suite(t *testing.T) *replay.Suite {
	t.Helper()
	bright := dark()
	bright.world.Watts = 60
	item := func(name string, history *journal.History, now lamp, change func(*runbook.Runbook)) replay.Item {
		return replay.Item{
			Name: name, Read: func() (*journal.History, error) { return history, nil },
			Options: func(*journal.History) replay.Options { return made(now, "v2 def", change) },
		}
	}
	as := func(*runbook.Runbook) {}
	never := lamp{version: "2", decide: func(dim) runbook.Finding { return runbook.No("never") }}
	lacking := func(book *runbook.Runbook) {
		book.Guards[0] = runbook.Guard{Name: "dark", Evaluate: book.Guards[0].Evaluate}
	}
	return replay.RunSuite([]replay.Item{
		item("lit", recorded(t, dark()), lamp{}, func(book *runbook.Runbook) {
			back := book.Steps[0]
			back.Name, back.Guards, back.Preconditions = "switch-off", nil, []runbook.Guard{{Name: "nobody-reads"}}
			book.Steps[0].Rollback = &back
		}),
		item("bright", recorded(t, bright), lamp{}, as),
		item("otherwise", recorded(t, dark()), never, as),
		{Name: "unreadable", Read: func() (*journal.History, error) { return nil, errors.New("it was cut") }},
		{Name: "unknown", Read: func() (*journal.History, error) { return recorded(t, dark()), nil },
			Options: func(*journal.History) replay.Options {
				return replay.Options{Make: func(json.RawMessage) (runbook.Runbook, error) {
					return runbook.Runbook{}, errors.New("no such runbook")
				}}
			}},
		item("lacking", recorded(t, dark()), lamp{}, lacking),
	})
}

// TestSuite: each record has a case, in the order of the records, and guards that none saw refuse are named.
func TestSuite(t *testing.T) {
	made := suite(t)
	var got []string
	for _, one := range made.Cases {
		got = append(got, fmt.Sprintf("%s %v %s%s", one.Name, one.Passed(), one.Result.Verdict, one.Err))
	}
	want := []string{
		"lit true same", "bright true same", "otherwise false diverged", "unreadable false it was cut",
		"unknown false making runbook \"lamp-on\" from the recorded inputs: no such runbook", "lacking false unreplayable",
	}
	if !slices.Equal(got, want) || made.Failed() != 4 {
		t.Errorf("%d failed: %q", made.Failed(), got)
	}
	if never := made.NeverRefused["lamp-on"]; len(made.NeverRefused) != 1 ||
		!slices.Equal(never, []string{"glows", "nobody-reads", "switchable"}) {
		t.Errorf("never refused: %v", made.NeverRefused)
	}
}

// TestCaseThatFailedHasNotPassed, whatever its replay came to before.
func TestCaseThatFailedHasNotPassed(t *testing.T) {
	same := replay.Result{Verdict: replay.Same}
	if one := (replay.Case{Result: same, Err: "it was cut"}); one.Passed() || !(replay.Case{Result: same}).Passed() {
		t.Error("it has")
	}
}

// TestSuiteOfNothing has no cases, and fails nothing.
func TestSuiteOfNothing(t *testing.T) {
	if made := replay.RunSuite(nil); len(made.Cases)+made.Failed()+len(made.NeverRefused) != 0 {
		t.Errorf("%+v", made)
	}
}

// TestJUnit: what diverged is a failure, and what could not be replayed an error.
func TestJUnit(t *testing.T) {
	var out strings.Builder
	if err := suite(t).JUnit(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<testsuites name="salve replay" tests="6" failures="1" errors="3">`,
		`<testsuite name="lamp-on" tests="4" failures="1" errors="1">`,
		`<testsuite name="unreadable" tests="2" failures="0" errors="2">`,
		`<testcase classname="lamp-on" name="lit"></testcase>`,
		"warning: no record saw guard switchable refuse",
		`<error message="it was cut"></error>`,
		`<error message="unreplayable: entry 2, start: unreplayable(dark: the world itself: it decides while it reads)`,
		`<failure message="entry 2, start: guard dark, answer: holds (study has 10 watts, of 40)`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in:\n%s", want, out.String())
		}
	}
}
