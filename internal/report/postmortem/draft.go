package postmortem

import (
	"encoding/json"
	"fmt"
	"time"

	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// Format is the version of the JSON of a draft.
const Format = "salve.report/v1"

// Draft is a post-mortem as data. Texts in it come from journals, logs and chats: they are bounded and free of control
// characters and of what looks like a credential, and may hold anything else.
type Draft struct {
	report.Document
	Format   string `json:"format"`
	Title    string `json:"title"`
	Redacted bool   `json:"redacted"`
	// Zone is the local one of the timeline, such as America/Los_Angeles.
	Zone   string   `json:"zone"`
	Period Period   `json:"period"`
	Runs   []Run    `json:"runs,omitempty"`
	Inputs []string `json:"inputs,omitempty"` // the files besides the runs
	// Sections are in the order of the document. The timeline and the appendix have lines of their own below.
	Sections []Section `json:"sections"`
	Timeline Timeline  `json:"timeline"`
	Appendix Appendix  `json:"appendix"`
	Chart    Chart     `json:"chart"`
}

// Period is when it happened, as far as the sources tell, and how it was bounded.
type Period struct {
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Outside counts events that the bounds leave out.
	Outside int `json:"outside,omitempty"`
}

// Run is one run in short.
type Run struct {
	Run      string `json:"run"`
	Pipeline bool   `json:"pipeline,omitempty"`
	Runbook  string `json:"runbook"`
	Version  string `json:"version"`
	Program  string `json:"program,omitempty"`
	Target   string `json:"target"`
	Actor    string `json:"actor"`
	Command  string `json:"command,omitempty"`
	report.Standing
	// State is the Standing for people.
	State   string    `json:"state"`
	Reason  string    `json:"reason,omitempty"`
	Opened  time.Time `json:"opened"`
	Last    time.Time `json:"last"`
	Seconds float64   `json:"seconds"`
	// cut tells that the record goes on after the bounds.
	cut bool
}

// SectionID names a section, and the block of a written draft that is made of it.
type SectionID string

// The sections, in their order. Lessons has only the heading of the three that follow it.
const (
	About       SectionID = "about"
	Summary     SectionID = "summary"
	Impact      SectionID = "impact"
	RootCause   SectionID = "root-cause"
	Detection   SectionID = "detection"
	Resolution  SectionID = "resolution"
	Lessons     SectionID = "lessons"
	WentWell    SectionID = "went-well"
	WentPoorly  SectionID = "went-poorly"
	GotLucky    SectionID = "got-lucky"
	ActionItems SectionID = "action-items"
	TimelineID  SectionID = "timeline"
	AppendixID  SectionID = "appendix"
)

// Section is one part of the document.
type Section struct {
	ID    SectionID `json:"id"`
	Title string    `json:"title"`
	Items []Item    `json:"items,omitempty"`
}

// ItemKind says how far a line may be believed.
type ItemKind string

// A fact is in the record. A candidate is something that the record suggests, for people to keep or delete. A question
// is what only people know.
const (
	Fact      ItemKind = "fact"
	Candidate ItemKind = "candidate"
	Question  ItemKind = "question"
)

// Item is one line of a section.
type Item struct {
	Kind ItemKind `json:"kind"`
	Text string   `json:"text"`
	// Command is what was typed, if the line tells of that.
	Command string   `json:"command,omitempty"`
	Sources []Source `json:"sources,omitempty"`
}

// SourceKind says what a line comes from.
type SourceKind string

// What a line may come from.
const (
	FromJournal  SourceKind = "journal"
	FromPipeline SourceKind = "pipeline"
	FromWatch    SourceKind = "watch"
	FromTriage   SourceKind = "triage"
	FromNote     SourceKind = "note"
)

// Source is where a line comes from: an entry of a run's journal, or a line of a file.
type Source struct {
	Kind SourceKind `json:"kind"`
	// Of is the run, or the file.
	Of string `json:"of"`
	// At is the number of the entry, or the line.
	At int `json:"at,omitempty"`
	// Detail is the step of a pipeline, the rule of a finding, the group of a verdict.
	Detail string `json:"detail,omitempty"`
}

// String is a source as it is cited.
func (s Source) String() string {
	text := s.Of
	switch {
	case s.At > 0 && (s.Kind == FromJournal || s.Kind == FromPipeline):
		text += fmt.Sprintf("#%d", s.At)
	case s.At > 0:
		text += fmt.Sprintf(":%d", s.At)
	}
	switch {
	case s.Detail == "":
		return text
	case s.Kind == FromPipeline:
		return text + " step " + s.Detail
	}
	return text + " " + s.Detail
}

// EventKind says what happened.
type EventKind string

// What may happen.
const (
	Opened      EventKind = "opened"
	Resumed     EventKind = "resumed"
	Decided     EventKind = "decided"
	Refused     EventKind = "refused"
	Overridden  EventKind = "overridden"
	Checked     EventKind = "checked"
	Planned     EventKind = "planned"
	Begun       EventKind = "begun"
	Done        EventKind = "done"
	Failed      EventKind = "failed"
	NotKnown    EventKind = "not-known"
	Skipped     EventKind = "skipped"
	Sent        EventKind = "sent"
	Noted       EventKind = "noted"
	Warned      EventKind = "warned"
	RollingBack EventKind = "rolling-back"
	Interrupted EventKind = "interrupted"
	Parked      EventKind = "parked"
	Closed      EventKind = "closed"
	Moved       EventKind = "moved"
	Found       EventKind = "found"
	Cleared     EventKind = "cleared"
	Blinded     EventKind = "blinded"
	Judged      EventKind = "judged"
	Said        EventKind = "said"
)

// Event is one line of the timeline.
type Event struct {
	At   time.Time `json:"at"`
	Kind EventKind `json:"kind"`
	Text string    `json:"text"`
	// Short is what the main timeline shows instead of a long text.
	Short string `json:"short,omitempty"`
	// Telling events are what a reader needs; the others are folded.
	Telling bool   `json:"telling"`
	Source  Source `json:"source"`
	// Count and Until are of events that were alike and followed each other.
	Count int       `json:"count,omitempty"`
	Until time.Time `json:"until,omitzero"`
	// clock names the machine that read the time.
	clock string
	step  string
	// noticed tells whether somebody says that there is trouble.
	noticed bool
}

// end is when the last of events that were alike happened.
func (e Event) end() time.Time {
	if e.Until.IsZero() {
		return e.At
	}
	return e.Until
}

// Timeline is what happened, in order.
type Timeline struct {
	Events []Event `json:"events"`
	// Total counts the events of all sources, and Omitted those that are not in Events.
	Total   int `json:"total"`
	Omitted int `json:"omitted,omitempty"`
	// Undated are messages of which no instant is known, in the order of their files.
	Undated []Undated `json:"undated,omitempty"`
	// UndatedOmitted are those that are not listed.
	UndatedOmitted int `json:"undatedOmitted,omitempty"`
}

// Undated is a message with a time of day alone.
type Undated struct {
	Clock  string `json:"clock"`
	Text   string `json:"text"`
	Source Source `json:"source"`
}

// Appendix is what the decisions rest on.
type Appendix struct {
	Guards []GuardFinding `json:"guards,omitempty"`
	// Held counts the findings that held, by guard, and Omitted those of Guards that are not listed.
	Held    []HeldGuard `json:"held,omitempty"`
	Omitted int         `json:"omitted,omitempty"`
}

// GuardFinding is an answer that stopped a run, could not be given, or was passed over.
type GuardFinding struct {
	At       time.Time       `json:"at"`
	Guard    string          `json:"guard"`
	For      string          `json:"for"`
	Answer   runbook.Answer  `json:"answer"`
	Reason   string          `json:"reason"`
	Override string          `json:"override,omitempty"`
	Outcome  runbook.Outcome `json:"outcome,omitempty"`
	Evidence []Evidence      `json:"evidence,omitempty"`
	Source   Source          `json:"source"`
	// Count is how often the guard answered so in a row.
	Count int `json:"count"`
}

// HeldGuard is a guard that held.
type HeldGuard struct {
	Guard  string `json:"guard"`
	Run    string `json:"run"`
	Times  int    `json:"times"`
	Reason string `json:"reason"`
	// Queries are the sources of its evidence.
	Queries []string `json:"queries,omitempty"`
	Source  Source   `json:"source"`
}

// Evidence is an observed fact.
type Evidence struct {
	Query    string    `json:"query"`
	Identity string    `json:"identity,omitempty"`
	Seen     time.Time `json:"seen"`
	Value    string    `json:"value,omitempty"` // JSON, cut to a length
}

// Chart is what a picture of the incident shows.
type Chart struct {
	Spans     []Span      `json:"spans,omitempty"`
	Requests  []Operation `json:"requests,omitempty"`
	Readiness []Readiness `json:"readiness,omitempty"`
	// Omitted counts what is not listed.
	Omitted int `json:"omitted,omitempty"`
}

// SpanKind says what a bar stands for.
type SpanKind string

// An attempt at a step; a pause before the next attempt; an open run that waits for an operator.
const (
	Attempt SpanKind = "attempt"
	Retry   SpanKind = "retry-wait"
	Person  SpanKind = "person-wait"
)

// Span is one bar.
type Span struct {
	Kind    SpanKind  `json:"kind"`
	Run     string    `json:"run"`
	Step    string    `json:"step,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	// Open tells that the record does not say when it ended; Ended is then the last that is known.
	Open bool `json:"open,omitempty"`
	// Result is empty where the record does not say what became of it.
	Result journal.ResultKind `json:"result,omitempty"`
	// Later is what was found out of an attempt of which nobody knew.
	Later         journal.ResultKind `json:"later,omitempty"`
	Irreversible  bool               `json:"irreversible,omitempty"`
	BudgetSeconds float64            `json:"budgetSeconds,omitempty"`
	Reason        string             `json:"reason,omitempty"`
	Source        Source             `json:"source"`
}

// Took is how long it lasted.
func (s Span) Took() time.Duration { return s.Ended.Sub(s.Began) }

// OverBudget tells whether an attempt lasted longer than it was to.
func (s Span) OverBudget() bool { return s.BudgetSeconds > 0 && s.Took().Seconds() > s.BudgetSeconds }

// Operation is a change that was sent, or several alike. At is when the journal recorded the answer.
type Operation struct {
	At      time.Time `json:"at"`
	Run     string    `json:"run"`
	Step    string    `json:"step"`
	Attempt int       `json:"attempt"`
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Status  int       `json:"status,omitempty"`
	Class   string    `json:"class,omitempty"`
	Count   int       `json:"count"`
	Source  Source    `json:"source"`
}

// Readiness is how many nodes served at one time.
type Readiness struct {
	At    time.Time `json:"at"`
	Run   string    `json:"run"`
	Pool  string    `json:"pool"`
	Ready int       `json:"ready"`
	Nodes int       `json:"nodes"`
	// Gone says that it is no reading: the run had deleted the pool by then.
	Gone   bool   `json:"gone,omitempty"`
	Source Source `json:"source"`
}

func decode[T any](entry journal.Entry) (T, error) {
	var data T
	if err := json.Unmarshal(entry.Data, &data); err != nil {
		return data, fmt.Errorf("entry %d of the journal, %s: %w", entry.Seq, entry.Kind, err)
	}
	return data, nil
}
