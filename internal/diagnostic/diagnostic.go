package diagnostic

import (
	"cmp"
	"fmt"
	"slices"
)

// Position is where something stands in a file. Lines and columns count from 1, and
// columns are Unicode characters; a line of 0 means the file as a whole.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String is the place as editors and terminals understand it.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// compare orders places as a reader meets them.
func (p Position) compare(other Position) int {
	return cmp.Or(cmp.Compare(p.File, other.File), cmp.Compare(p.Line, other.Line), cmp.Compare(p.Column, other.Column))
}

// Severity is how bad it is.
type Severity string

const (
	// Error says that the file can't be used as it is.
	Error Severity = "error"
	// Warning says that it can, but hardly means what it says.
	Warning Severity = "warning"
	// Note says something worth knowing, of which nothing is wrong.
	Note Severity = "note"
)

// Diagnostic is one thing that is wrong.
type Diagnostic struct {
	Position Position `json:"position"`
	Severity Severity `json:"severity"`
	// Rule is the ID of the rule that was broken.
	Rule string `json:"rule"`
	// Step is the one that it is about, such as fleet/cluster; empty for none.
	Step string `json:"step,omitempty"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Advice says what to do about it, where there is something to say.
	Advice string `json:"advice,omitempty"`
}

// String is the diagnostic as one line.
func (d Diagnostic) String() string {
	line := d.Position.String() + ": "
	if d.Severity != Error {
		line += string(d.Severity) + ": "
	}
	return fmt.Sprintf("%s%s [%s]", line, d.sentence(), d.Rule)
}

// Says is the message with the step that it is about.
func (d Diagnostic) Says() string {
	message := Bounded(d.Message)
	if d.Step == "" {
		return message
	}
	return fmt.Sprintf("step %s: %s", Bounded(d.Step), message)
}

// List is everything that is wrong.
type List []Diagnostic

// Sort orders a list by place.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(a.Position.compare(b.Position), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
			cmp.Compare(a.Step, b.Step))
	})
}

// Errors counts what stands in the way of using the file.
func (l List) Errors() int { return l.Count(Error) }

// Count counts what is of a severity.
func (l List) Count(severity Severity) int {
	count := 0
	for _, d := range l {
		if d.Severity == severity {
			count++
		}
	}
	return count
}

func (d Diagnostic) sentence() string {
	if d.Advice == "" {
		return d.Says()
	}
	return d.Says() + "; " + Bounded(d.Advice)
}
