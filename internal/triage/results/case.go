package results

import (
	"fmt"
	"slices"
	"time"
)

// Outcome is how a case ended.
type Outcome string

// Error is a case that didn't get as far as its assertions, or that has no end: a crash, a build, a timeout.
const (
	Pass  Outcome = "pass"
	Fail  Outcome = "fail"
	Skip  Outcome = "skip"
	Error Outcome = "error"
)

// severity orders the outcomes of one case that reports several.
func (o Outcome) severity() int { return slices.Index([]Outcome{Pass, Skip, Fail, Error}, o) }

// Failed says whether the case failed, by an assertion or by an error.
func (o Outcome) Failed() bool { return o == Fail || o == Error }

// Case is one attempt of one test.
type Case struct {
	// Name is empty where a whole package failed without a failing test, by its build for example.
	Name  string
	Suite string // the enclosing suites joined by "/", or the Go package
	Class string // JUnit's classname

	Outcome  Outcome
	Attempt  int // from 1; attempts of one case are told apart within one file
	Duration time.Duration
	Ended    time.Time // zero where the results don't say
	// Subtests says that the case is the sum of others: its failure may be theirs.
	Subtests bool
	// Unfinished says that nothing tells how the case ended: what ran it crashed, timed out or was killed.
	Unfinished bool
	// Log says that the case is a plain log: it failed as far as nobody says otherwise.
	Log bool

	Type    string // of the failure: an exception's class for example
	Message string
	Failure Text
	Output  Text

	Attributes []Attribute // sorted by name, each name once
	File       string      // of the test's source, as the results name it
	Line       int

	Origin Place
	Notes  []string // what was changed or is missing in this case

	// Observation is what the reader's observer made of the texts, at their end; nil without one, or without a text.
	Observation Observation
}

// Attribute is what the results themselves say about a case: a property, an attr event.
type Attribute struct{ Name, Value string }

// Attribute is the value of a name.
func (c Case) Attribute(name string) (string, bool) {
	i, found := slices.BinarySearchFunc(c.Attributes, name, byName)
	if !found {
		return "", false
	}
	return c.Attributes[i].Value, true
}

func byName(a Attribute, name string) int {
	switch {
	case a.Name < name:
		return -1
	case a.Name > name:
		return 1
	}
	return 0
}

// attributes is a bounded set, sorted by name. The zero value is empty.
type attributes struct {
	list    []Attribute
	dropped int
}

// set gives a name its value; the last one counts.
func (a *attributes) set(name, value string, limit int) {
	i, found := slices.BinarySearchFunc(a.list, name, byName)
	switch {
	case name == "":
	case found:
		a.list[i].Value = value
	case len(a.list) >= limit:
		a.dropped++
	default:
		a.list = slices.Insert(a.list, i, Attribute{name, value})
	}
}

// Place is a line of a file of results.
type Place struct {
	File string
	Line int
}

func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Problem is why a file was not read, or not to its end. What was given of the file before stays good, and the next
// file is read all the same.
type Problem struct {
	Place
	Reason string
	Err    error // what lies behind, if anything
}

func (p *Problem) Error() string { return p.String() + ": " + p.Reason }

func (p *Problem) Unwrap() error { return p.Err }

// Note is about a file as a whole, and no error.
type Note struct {
	Place
	Text string
}
