package report

import (
	"encoding/json"
	"fmt"
	"io"

	"salve/engine"
	"salve/internal/redact"
	"salve/journal"
)

// schemaVersion is that of every JSON document; it grows when a field changes its
// meaning or goes away.
const schemaVersion = 1

// Document is what every JSON document begins with.
type Document struct {
	SchemaVersion int    `json:"schemaVersion"`
	Kind          string `json:"kind"`
}

// NewDocument begins a document of a kind.
func NewDocument(kind string) Document { return Document{schemaVersion, kind} }

// Results is the document of run, resume, rehearse, plan and check.
type Results struct {
	Document
	// Exit is the exit code.
	Exit int `json:"exitCode"`
	// Says is the last line in words.
	Says string `json:"says"`
	// Scenario is what was rehearsed.
	Scenario string `json:"scenario,omitempty"`
	// Journal is the folder in which a rehearsal's journal is kept.
	Journal string   `json:"journal,omitempty"`
	Runs    []Result `json:"runs"`
}

// Failure is the document of a command that came to no answer.
type Failure struct {
	Document
	Exit int    `json:"exitCode"`
	Says string `json:"says"`
}

// Result is one target's part of Results.
type Result struct {
	engine.Result
	// Acts tells, of a plan or a check, whether a run would act.
	Acts *bool `json:"acts,omitempty"`
	// Next is the command to type, if there is something to do.
	Next     string   `json:"next,omitempty"`
	Timeline []Moment `json:"timeline,omitempty"`
	// Checks is the last evaluation on the final checks.
	Checks *journal.Evaluation `json:"checks,omitempty"`
}

// Story is the document of one run: its header and its timeline.
type Story struct {
	Document
	Header journal.Header `json:"header"`
	Standing
	// State is the Standing for people.
	State    string              `json:"state"`
	Closed   *journal.Verdict    `json:"closed,omitempty"`
	Parked   *journal.Verdict    `json:"parked,omitempty"`
	Timeline []Moment            `json:"timeline"`
	Checks   *journal.Evaluation `json:"checks,omitempty"`
}

// NewStory makes the document of a run from its journal.
func NewStory(history *journal.History) (Story, error) {
	moments, err := Moments(history)
	if err != nil {
		return Story{}, err
	}
	story := Story{
		Document: NewDocument("timeline"), Header: history.Header, Standing: StandingOf(history), State: standing(history),
		Closed: history.Closed, Parked: history.Parked, Timeline: moments,
	}
	checks, found, err := lastChecks(history)
	if found {
		story.Checks = &checks
	}
	return story, err
}

// Explanation is the document of a run's decisions.
type Explanation struct {
	Document
	Header journal.Header `json:"header"`
	Standing
	// State is the Standing for people.
	State string `json:"state"`
	// Different is how many decisions do not come out the same again.
	Different int        `json:"different"`
	Decisions []Decision `json:"decisions"`
}

// NewExplanation makes every decision of a run again.
func NewExplanation(history *journal.History) (Explanation, error) {
	decisions, err := Decisions(history)
	explanation := Explanation{
		Document: NewDocument("explanation"), Header: history.Header, Standing: StandingOf(history),
		State: standing(history), Decisions: decisions,
	}
	for _, decision := range decisions {
		if !decision.Same {
			explanation.Different++
		}
	}
	return explanation, err
}

// JSON writes a document, indented, credentials taken out.
func JSON(out io.Writer, document any) error {
	raw, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the answer as JSON: %w", err)
	}
	_, err = out.Write(append(redact.Redact(raw), '\n'))
	return err
}
