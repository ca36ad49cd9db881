package event

import (
	"time"

	"salve/internal/hotfix"
)

// Level says who should look at an event.
type Level string

// The levels.
const (
	Information Level = "information" // all is well; «nothing published» too
	Warning     Level = "warning"     // the node is well, and what was wanted did not happen
	Error       Level = "error"       // salve-node itself failed
)

// SchemaVersion is that of the events written here.
const SchemaVersion = 1

// Event is what one command did.
type Event struct {
	SchemaVersion int       `json:"schemaVersion"`
	Time          time.Time `json:"time"` // when the command began
	Command       string    `json:"command"`
	Level         Level     `json:"level"`
	Outcome       string    `json:"outcome"`
	Reason        string    `json:"reason,omitempty"`
	Target        string    `json:"target,omitempty"`
	Source        string    `json:"source,omitempty"`
	Problem       string    `json:"problem,omitempty"`
	Path          string    `json:"path,omitempty"` // the program that was chosen
	Exit          *int      `json:"exit,omitempty"` // of the program that was supervised
	Scripts       *Scripts  `json:"scripts,omitempty"`
	// Milliseconds are how long the parts of the command took; "all" is the whole.
	Milliseconds map[string]float64 `json:"milliseconds"`
	Decision     *hotfix.Decision   `json:"decision,omitempty"`
}

// Scripts is what became of the scripts.
type Scripts struct {
	Outcome string `json:"outcome"`
	Target  string `json:"target,omitempty"`
	Source  string `json:"source,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Measure writes down how long a part took.
func (e *Event) Measure(part string, took time.Duration) {
	if e.Milliseconds == nil {
		e.Milliseconds = map[string]float64{}
	}
	e.Milliseconds[part] = float64(took.Microseconds()) / 1000
}
