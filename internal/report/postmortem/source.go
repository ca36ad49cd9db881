package postmortem

import (
	"time"

	"salve/internal/triage"
	"salve/journal"
)

// Sources are what a draft is made from.
type Sources struct {
	Runs   []*journal.History
	Watch  []WatchFile
	Triage []TriageFile
	Notes  []NotesFile
}

// TriageFile is a triage document with the name it is cited by.
type TriageFile struct {
	Name     string
	Document triage.Document
}

// NotesFile is a chat export with the name it is cited by.
type NotesFile struct {
	Name  string
	Notes []Note
	// Questions are what the export leaves open, such as the date of a message.
	Questions []NoteQuestion
}

// Note is one message.
type Note struct {
	Line   int
	Author string
	Bot    bool
	// At is zero unless date and zone are known; Clock is the time as it was written.
	At    time.Time
	Clock string
	Text  string
}

// NoteQuestion is what the line of an export leaves open.
type NoteQuestion struct {
	Line int
	Text string
}

// Options are how a draft is made.
type Options struct {
	Title string
	// Zone is the local one, besides UTC.
	Zone *time.Location
	// Since and Until bound what the draft tells; zero is no bound.
	Since, Until time.Time
}

// within tells whether a time is one that the draft tells of.
func (o Options) within(at time.Time) bool {
	return (o.Since.IsZero() || !at.Before(o.Since)) && (o.Until.IsZero() || !at.After(o.Until))
}

// before tells whether a bar ended before what the draft tells of.
func (o Options) before(span Span) bool { return !o.Since.IsZero() && span.Ended.Before(o.Since) }
