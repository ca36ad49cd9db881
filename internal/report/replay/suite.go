package replay

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// Case is one record of a suite.
type Case struct {
	// Name is the file's, or the run's.
	Name string `json:"name"`
	// Result is what its replay came to; zero when it could not be replayed at all, for the reason Err.
	Result Result `json:"result"`
	Err    string `json:"error,omitempty"`
}

// Passed tells whether every decision came out as recorded.
func (c Case) Passed() bool { return c.Err == "" && c.Result.Verdict == Same }

// Suite is a folder of records, each with what its replay came to.
type Suite struct {
	Cases []Case `json:"cases"`
	// NeverRefused are guards that no record of the suite saw refuse, by runbook: that they would, nothing shows.
	NeverRefused map[string][]string `json:"neverRefused,omitempty"`
	refused      map[string]map[string]bool
}

// Item is a record of a suite before it is replayed. Read reads it; it is called once.
type Item struct {
	Name string
	Read func() (*journal.History, error)
	// Options say how it is replayed.
	Options func(*journal.History) Options
}

// RunSuite replays records, as many at once as there are processors. The cases are in the order of the items.
func RunSuite(items []Item) *Suite {
	type replayed struct {
		Case
		book runbook.Runbook
	}
	all := make([]replayed, len(items))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(items)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(items); i = int(next.Add(1)) - 1 {
				all[i].Case, all[i].book = items[i].replay()
			}
		})
	}
	workers.Wait()
	suite := &Suite{}
	for _, one := range all {
		suite.Cases = append(suite.Cases, one.Case)
		if one.Err == "" {
			suite.count(one.Result.Runbook, one.book, one.Result)
		}
	}
	suite.NeverRefused = suite.neverRefused()
	return suite
}

// neverRefused are the guards that no case saw refuse, by runbook.
func (s *Suite) neverRefused() map[string][]string {
	never := map[string][]string{}
	for name, guards := range s.refused {
		for _, guard := range slices.Sorted(maps.Keys(guards)) {
			if !guards[guard] {
				never[name] = append(never[name], guard)
			}
		}
	}
	return never
}

// replay replays one record; the runbook is that of the recorded inputs.
func (i Item) replay() (Case, runbook.Runbook) {
	history, err := i.Read()
	if err != nil {
		return Case{Name: i.Name, Err: err.Error()}, runbook.Runbook{}
	}
	options := i.Options(history)
	result, err := Run(history, options)
	if err != nil {
		return Case{Name: i.Name, Result: result, Err: err.Error()}, runbook.Runbook{}
	}
	book, err := options.Make(history.Header.Inputs)
	if err != nil {
		return Case{Name: i.Name, Result: result, Err: err.Error()}, runbook.Runbook{}
	}
	return Case{Name: i.Name, Result: result}, book
}

// count remembers which guards of a runbook were seen to refuse.
func (s *Suite) count(name string, book runbook.Runbook, result Result) {
	if s.refused == nil {
		s.refused = map[string]map[string]bool{}
	}
	seen := s.refused[name]
	if seen == nil {
		seen = map[string]bool{}
		s.refused[name] = seen
	}
	for _, guard := range guardsOf(book) {
		if _, known := seen[guard]; !known {
			seen[guard] = false
		}
	}
	for _, decision := range result.Decisions {
		for _, guard := range decision.Guards {
			if guard.Recorded != nil && guard.Recorded.Answer != runbook.AnswerHolds {
				seen[guard.Name] = true
			}
		}
	}
}

// guardsOf names all that a runbook asks.
func guardsOf(book runbook.Runbook) []string {
	purposes := []string{"start", "checks"}
	for _, step := range slices.Concat(book.Preflight, book.Steps) {
		purposes = append(purposes, "step "+step.Name)
		if step.Rollback != nil {
			purposes = append(purposes, "step "+step.Rollback.Name)
		}
	}
	var names []string
	for _, purpose := range purposes {
		guards, _ := engine.GuardsFor(book, journal.Evaluation{For: purpose})
		for _, guard := range guards {
			names = append(names, guard.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Failed counts the cases that did not pass.
func (s *Suite) Failed() int {
	failed := 0
	for _, one := range s.Cases {
		if !one.Passed() {
			failed++
		}
	}
	return failed
}

// The JUnit document, as far as the systems that read it agree on it.
type (
	junit struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []*group `xml:"testsuite"`
	}
	group struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []testcase `xml:"testcase"`
		Out      string     `xml:"system-out,omitempty"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure,omitempty"`
		Error   *message `xml:"error,omitempty"`
	}
	message struct {
		Text string `xml:"message,attr"`
	}
)

// JUnit writes a suite: a test suite for each runbook, a test case for each record. What diverged is a failure, what
// could not be replayed an error.
func (s *Suite) JUnit(w io.Writer) error {
	all := &junit{Name: "salve replay"}
	groups := map[string]*group{}
	for _, one := range s.Cases {
		name := one.Result.Runbook
		if name == "" {
			name = "unreadable"
		}
		in := groups[name]
		if in == nil {
			in = &group{Name: name}
			groups[name] = in
			all.Suites = append(all.Suites, in)
			for _, guard := range s.NeverRefused[name] {
				in.Out += fmt.Sprintf("warning: no record saw guard %s refuse\n", guard)
			}
		}
		in.add(one)
	}
	for _, in := range all.Suites {
		all.Tests, all.Failures, all.Errors = all.Tests+in.Tests, all.Failures+in.Failures, all.Errors+in.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return fmt.Errorf("writing JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (g *group) add(one Case) {
	g.Tests++
	row := testcase{Class: g.Name, Name: one.Name}
	switch {
	case one.Err != "":
		g.Errors++
		row.Error = &message{one.Err}
	case one.Result.Verdict == Diverged:
		g.Failures++
		row.Failure = &message{one.Result.Reason}
	case one.Result.Verdict != Same:
		g.Errors++
		row.Error = &message{string(one.Result.Verdict) + ": " + one.Result.Reason}
	}
	g.Cases = append(g.Cases, row)
}
