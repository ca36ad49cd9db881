package catalogue

import (
	"regexp"
	"time"

	"salve/internal/diagnostic"
	"salve/internal/triage/literal"
)

// Class is what a signature says about who broke it.
type Class string

// Infrastructure and Product make a known failure of the one or the other. Test is a failure of the test itself.
const (
	Infrastructure Class = "infrastructure"
	Product        Class = "product"
	Test           Class = "test"
)

// DefaultProducer wrote a file that no kind is for: the test itself. Two such files are one producer's.
const DefaultProducer = "test"

// Catalogue is signatures, attribute patterns and kinds of file, made ready for matching. It is safe for concurrent
// use.
type Catalogue struct {
	signatures []*Signature
	attributes []*attribute
	kinds      []kind

	index
}

// index is what the one pass over a text needs.
type index struct {
	set      *literal.Set
	literals []use   // by literal of the set
	lines    []*line // conditions on one line
	byFact   [][]int // signatures by fact that speaks for them
	placed   []int   // signatures that a place alone may speak for
	facts    map[string]int
	overlap  int // of the longest literal, less one
}

// All are its signatures, in the order of the files.
func (c *Catalogue) All() []*Signature { return c.signatures }

// Signature is the one with the ID, or nil.
func (c *Catalogue) Signature(id string) *Signature {
	for _, s := range c.signatures {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Signature is a known failure.
type Signature struct {
	ID        string
	Title     string // the ID, where there is none
	Class     Class
	Owner     string // who is to be told; empty: nobody is named
	Component string
	Links     []string
	Action    string
	// ValidUntil is the last day, in UTC, on which the signature decides; zero: there is none.
	ValidUntil time.Time
	Escalation Escalation
	Examples   Examples
	Position   diagnostic.Position

	Condition
	// AnyOf are alternatives: one of them has to hold beside the condition above. Empty: there is nothing to choose.
	AnyOf []Condition

	own  compiled
	alts []compiled
}

// Expired says whether the signature no longer decides at the time.
func (s *Signature) Expired(now time.Time) bool {
	return !s.ValidUntil.IsZero() && !now.Before(s.ValidUntil.AddDate(0, 0, 1))
}

// conditions are its own and the alternatives.
func (s *Signature) conditions() []*Condition {
	all := []*Condition{&s.Condition}
	for i := range s.AnyOf {
		all = append(all, &s.AnyOf[i])
	}
	return all
}

// Escalation is from how many occurrences in how many days the owner must be told. Zero: the default holds.
type Escalation struct{ Count, Days int }

// Examples are texts that a signature's literals and expressions must and must not match.
type Examples struct{ Match, NoMatch []string }

// Condition is on one file of a scenario, and on the scenario. All that is set has to hold.
type Condition struct {
	All     []string // literals, each somewhere in the file
	Any     []string // of these one
	None    []string // of these none
	Matches []string // RE2, each on some line that has one of All or Any
	Line    *Line    // on one line
	Place   string   // file, with or without a line, or function that the failure is at
	Kind    []string // the file is of one of these kinds
	// Where the attributes have one of the values, in which "*" is any text; Unless they have one.
	Where, Unless []Requirement

	Position diagnostic.Position
}

// Line is a condition on one line of a file.
type Line struct{ All, Any, None, Matches []string }

// Requirement is on an attribute: one of the values, in which "*" is any text.
type Requirement struct {
	Name   string
	Values []string
	values []*regexp.Regexp
}

// attribute is one rule by which a value is told.
type attribute struct {
	name     string
	from     source
	kinds    []string
	literal  string
	pattern  *regexp.Regexp
	group    int // of the value in the pattern
	values   map[string]string
	position diagnostic.Position
}

// source is where a pattern looks.
type source string

const (
	fromName source = "name"
	fromFile source = "file"
	fromLine source = "line"
)

// kind is a kind of file and who writes such files.
type kind struct {
	name     string
	files    []*regexp.Regexp
	producer string
	position diagnostic.Position
}
