package journal

import (
	"encoding/json"
	"time"

	"salve/internal/apierr"
	"salve/runbook"
)

// Kind says what an entry records.
type Kind string

// The kinds of entries, with the type of their data.
const (
	Opened      Kind = "opened"       // Header
	Resumed     Kind = "resumed"      // Resumption
	Evaluated   Kind = "evaluated"    // Evaluation
	Planned     Kind = "planned"      // runbook.Plan
	Intended    Kind = "intent"       // Intent
	Outcome     Kind = "outcome"      // Result
	Requested   Kind = "requests"     // Requests
	Noted       Kind = "note"         // Note
	Warned      Kind = "warning"      // Message
	RollingBack Kind = "rolling-back" // Verdict: how the run ends once undone
	Interrupted Kind = "interrupted"  // Message
	Parked      Kind = "parked"       // Verdict
	Closed      Kind = "closed"       // Verdict
	Migrated    Kind = "migrated"     // Destination: where to; it goes on there
	Arrived     Kind = "arrived"      // Destination: where from
	Exported    Kind = "export"       // Export
	Asked       Kind = "asked"        // Question: it waits for the approval of its plan
	Approved    Kind = "approved"     // Approval
	Denied      Kind = "denied"       // Statement
)

// Entry is one line of a record.
type Entry struct {
	Seq   int             `json:"seq"`
	At    time.Time       `json:"at"`
	Kind  Kind            `json:"kind"`
	Epoch int64           `json:"epoch"`
	Step  string          `json:"step,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	// Prev is the hash of the line before; empty for the first.
	Prev string `json:"prev,omitempty"`
}

// Header opens a record: what is run, on what, made from which inputs.
type Header struct {
	Schema  int             `json:"schemaVersion"`
	Run     string          `json:"run"`
	Runbook string          `json:"runbook"`
	Version string          `json:"version"`
	Target  runbook.Target  `json:"target"`
	Posture runbook.Posture `json:"posture"`
	// Inputs are masked in the record, and whole in a header that was read.
	Inputs  json.RawMessage `json:"inputs,omitempty"`
	Private *Export         `json:"private,omitempty"`
	// Overrides maps guards to the reason for passing over them.
	Overrides map[string]string `json:"overrides,omitempty"`
	Holder    Holder            `json:"holder"`
	// Program is the version of the program that began the run, and Command what was
	// typed; empty where nobody said.
	Program string `json:"program,omitempty"`
	Command string `json:"command,omitempty"`
	// Route are the flags that led to the world, such as --cloud, for hints: a run is never resumed by them alone.
	Route []string `json:"route,omitempty"`
	// Rehearsal names the scenario that was rehearsed, whose world ended with the process; empty for a real run.
	Rehearsal string `json:"rehearsal,omitempty"`
	// Plan is the digest of the only plan that the run may execute; empty where any is.
	Plan string `json:"plan,omitempty"`
	// Approval makes the run wait until its plan is approved; nil where nobody has to.
	Approval *ApprovalRule `json:"approval,omitempty"`
}

// Resumption says who goes on with a run.
type Resumption struct {
	Holder Holder `json:"holder"`
	// Overrides are added to those of the header.
	Overrides map[string]string `json:"overrides,omitempty"`
	// Inputs take the place of those of the header, where there are any.
	Inputs  json.RawMessage `json:"inputs,omitempty"`
	Private *Export         `json:"private,omitempty"`
	// Program and Command are those of the header, of the process that goes on.
	Program string `json:"program,omitempty"`
	Command string `json:"command,omitempty"`
}

// Holder says who is at work.
type Holder struct {
	Run  string `json:"run,omitempty"`
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	// Since is when the lease was taken.
	Since time.Time `json:"since"`
}

// Evaluation is a set of findings and what was decided on them.
type Evaluation struct {
	// For is "start", "resume", "step NAME" or "checks".
	For   string `json:"for"`
	Round int    `json:"round"`
	// Preconditions: of the step's guards these alone were asked, before it was looked whether the step is needed.
	Preconditions bool `json:"preconditions,omitempty"`
	// Proposed: of the run's guards those were asked that don't wait for anything to be made, for a plan that is to be
	// agreed to. All are asked once it is.
	Proposed bool `json:"proposed,omitempty"`

	Findings []runbook.Finding `json:"findings"`
	Decision Verdict           `json:"decision"`
	// Missing names guards that were not asked, because an earlier one ended it.
	Missing []string `json:"notAsked,omitempty"`
	// Readings are what the findings were decided from, by the guards' names.
	Readings []Reading `json:"readings,omitempty"`
	Parts    []Part    `json:"parts,omitempty"`
}

// Verdict is how a run, or an evaluation, ends and why. An empty Outcome means
// that the run goes on.
type Verdict struct {
	Outcome  runbook.Outcome `json:"outcome,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Question string          `json:"question,omitempty"`
}

// Intent announces a change.
type Intent struct {
	Attempt int             `json:"attempt"`
	Inputs  json.RawMessage `json:"inputs,omitempty"`
	// Permit is sent with the change as the client's request ID.
	Permit       string `json:"permit"`
	Irreversible bool   `json:"irreversible,omitempty"`
	// BudgetSeconds bounds the attempt; zero where the run's budget alone does.
	BudgetSeconds float64 `json:"budgetSeconds,omitempty"`
}

// ResultKind is what became of an intent.
type ResultKind string

// What becomes of an intent.
const (
	Done    ResultKind = "done"
	Failure ResultKind = "failed"
	Unknown ResultKind = "unknown"
	// Skipped is what became of a step that was not to be run: nobody has done it.
	Skipped ResultKind = "skipped"
)

// Result closes an intent.
type Result struct {
	Attempt int        `json:"attempt,omitempty"`
	Result  ResultKind `json:"result"`
	// Observed says that the result was seen in the world, not told by the call.
	Observed bool `json:"observed,omitempty"`
	// Answered says that an operator told it.
	Answered bool `json:"answered,omitempty"`
	// Refused says that the change certainly did not happen and can't happen any
	// more: the world refused it.
	Refused bool   `json:"refused,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Stack is where the step's code panicked.
	Stack string       `json:"stack,omitempty"`
	Class apierr.Class `json:"class,omitempty"`
}

// Requests are changes that were sent under a permit, with their answers, in the
// order in which they were first made. Alike ones are counted.
type Requests struct {
	Attempt int       `json:"attempt"`
	Permit  string    `json:"permit"`
	Made    []Request `json:"made"`
	// More counts requests that are not listed.
	More int `json:"more,omitempty"`
}

// Request is one change that was sent.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// Status is the answer's HTTP status; zero when there was none.
	Status int `json:"status,omitempty"`
	// Class is what the lack of an answer means.
	Class apierr.Class `json:"class,omitempty"`
	// Count is how often it was sent with this answer.
	Count int `json:"count"`
}

// Note is a value that a later step, or a resumed run, needs.
type Note struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
	// Private is where the value is kept whole when what the record holds of it is
	// masked.
	Private *Export `json:"private,omitempty"`
}

// Destination says where a record goes or comes from.
type Destination struct {
	// Where is for people; ID tells the location from every other.
	Where string `json:"where"`
	ID    string `json:"id"`
}

// Message is a sentence.
type Message struct {
	Text string `json:"text"`
	// Stack is where code of the runbook panicked, if that is what it tells of.
	Stack string `json:"stack,omitempty"`
}
