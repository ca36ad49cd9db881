package decision

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"salve/internal/recordable"
	"salve/internal/triage"
)

// Evidence is all that the verdicts of one run rest on. Texts in it are masked before anything is decided.
type Evidence struct {
	Observed Observed `json:"observed"`
	Past     Past     `json:"past"`
	// Examined is what was counted in the scenarios, where they themselves are left out; else null.
	Examined *Examined `json:"examined"`
}

// Observed is what the results, the change and the catalogue show of a run.
type Observed struct {
	Counts     triage.Counts   `json:"counts"`
	Aborted    *triage.Aborted `json:"aborted"`    // as the results show it; null: they don't
	Baselines  []*int          `json:"baselines"`  // scenarios of each run without the change; null: it could not be read
	Change     *Change         `json:"change"`     // null: none was given
	Ways       []Way           `json:"ways"`       // in which scenarios failed, the most frequent first
	Signatures []Signature     `json:"signatures"` // that are shown
	Scenarios  *Scenarios      `json:"scenarios"`  // null: left out, for the reason in Omitted
	Omitted    string          `json:"omitted,omitempty"`
}

// Change is the change under test.
type Change struct {
	Files      int        `json:"files"`
	Components []string   `json:"components"` // that it touches
	At         *time.Time `json:"at"`         // when it was built or deployed; null: nobody said
}

// Way is failures that look alike by their texts. A signature may put several ways together to one group.
type Way struct {
	Key      string `json:"key"`
	Message  string `json:"message"`
	Failures int    `json:"failures"` // scenarios
	Scenario string `json:"scenario"` // one of them
	Place    string `json:"place"`
	// Finished are failures with a result: all others ran when the run ended.
	Finished int `json:"finished"`
	// Recovered are scenarios that passed when tried again, Insisted the most attempts of one that failed so each time.
	Recovered int        `json:"recovered"`
	Insisted  int        `json:"insisted"`
	First     *time.Time `json:"first"` // null: the results don't say when they failed
	// Touched are failures at a place that the change touches, such as TouchedAt.
	Touched   int      `json:"touched"`
	TouchedAt string   `json:"touchedAt"`
	Producers []string `json:"producers"` // of evidence in texts and logs of its scenarios, each once
	Shows     []Shows  `json:"shows"`
}

// Shows is how many failures of a way show a signature: at all, and in their own texts.
type Shows struct {
	Signature int `json:"signature"` // its position in Observed.Signatures
	Failures  int `json:"failures"`
	InText    int `json:"inText"`
}

// Signature is a known failure that some scenario, or a log, shows.
type Signature struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Class      string      `json:"class"`
	Owner      string      `json:"owner"`
	Links      []string    `json:"links"`
	Action     string      `json:"action"`
	ValidUntil string      `json:"validUntil"`
	Expired    bool        `json:"expired"`
	Passing    int         `json:"passing"`    // scenarios that pass and show it
	Escalation *Escalation `json:"escalation"` // null: that of the thresholds
	Producers  []string    `json:"producers"`  // of logs of no scenario that show it
}

// Escalation is a signature's own.
type Escalation struct {
	Count int `json:"count"`
	Days  int `json:"days"`
}

// LackingError says what a decision takes that the evidence does not have.
type LackingError struct{ What string }

func (e *LackingError) Error() string { return "unreplayable: the record does not have " + e.What }

func lacks(format string, values ...any) error { return &LackingError{fmt.Sprintf(format, values...)} }

// ReadBack gives evidence, or a part of it, as it is read back from JSON, with the JSON: what a decision is made from
// is what a record can hold.
func ReadBack[T any](part T) (T, json.RawMessage, error) {
	var back T
	raw, err := json.Marshal(part)
	if err != nil {
		return back, nil, fmt.Errorf("recording what was seen: %w", err)
	}
	back, err = Read[T](raw)
	return back, raw, err
}

// Read reads evidence, or a part of it. It fails with *LackingError where a field is not there.
func Read[T any](raw json.RawMessage) (T, error) {
	var part T
	if missing := recordable.Missing(reflect.TypeFor[T](), raw); missing != "" {
		return part, lacks("%s", missing)
	}
	if err := json.Unmarshal(raw, &part); err != nil {
		return part, fmt.Errorf("reading back what was seen: %w", err)
	}
	return part, nil
}
