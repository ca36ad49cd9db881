package engine

import (
	"time"

	"salve/journal"
	"salve/runbook"
)

// EventKind says what an Event tells.
type EventKind string

// The kinds of events, with the fields that are set besides At, Run and Text.
const (
	RunBegan      EventKind = "run-began"      // Text: opened or resumed
	Found         EventKind = "finding"        // Finding, Took, Step: what it was asked for
	PlanMade      EventKind = "plan"           // Plan
	StepBegan     EventKind = "step-began"     // Step, Attempt, Irreversible
	StepMoved     EventKind = "step-moved"     // Step, Progress
	StepEnded     EventKind = "step-ended"     // Step, Attempt, Result
	Waiting       EventKind = "waiting"        // Step, Text: what for
	Warning       EventKind = "warning"        // Step
	RollbackBegan EventKind = "rollback-began" // Text: why
	ChecksBegan   EventKind = "checks-began"   //
	RunEnded      EventKind = "run-ended"      // Verdict
)

// Event is something that happened in a run, for people to watch. The journal,
// not the events, is the record.
type Event struct {
	At  time.Time
	Run string
	// Runbook and Target are those of the run.
	Runbook string
	Target  runbook.Target

	Kind    EventKind
	Step    string
	Text    string
	Attempt int
	// Irreversible: from now on nothing is rolled back.
	Irreversible bool
	// Took is how long a guard took to answer.
	Took time.Duration

	Finding  *runbook.Finding
	Plan     *runbook.Plan
	Progress *runbook.Progress
	Result   *journal.Result
	Verdict  *journal.Verdict
}
