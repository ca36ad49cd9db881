package record

import (
	"encoding/json"
	"fmt"
	"time"

	"salve/internal/redact"
	"salve/internal/triage"
	"salve/internal/triage/decision"
)

// Version is the version of the file that is written, and the newest that is read.
const Version = 1

// Triage is what a record is made of.
type Triage struct {
	// Program and Architecture are those that decided: numbers may differ in their last digits between architectures.
	Program, Architecture string
	Build                 string
	Created               time.Time
	Thresholds            triage.Thresholds
	Evidence              decision.Evidence
	Examined              *decision.Examined
	Decision              decision.Decision
}

// Recorded says by what a triage was decided.
type Recorded struct {
	Program      string             `json:"program"`
	Architecture string             `json:"architecture"`
	Build        string             `json:"build"`
	Created      time.Time          `json:"created"`
	Thresholds   map[string]float64 `json:"thresholds"`
}

// Record is a file read back.
type Record struct {
	Recorded Recorded
	Said     Said
	// Evidence is nil if all of it was left out, or lacks a field: Lacks says what is not there.
	Evidence *decision.Evidence
	Lacks    string
}

// Said is what was decided. Of very many groups the last ones are there with their verdicts alone.
type Said struct {
	Run    json.RawMessage   `json:"run"`    // a decision.Decision without groups
	Groups []json.RawMessage `json:"groups"` // a decision.Group each
	Rest   []Brief           `json:"rest,omitempty"`
}

// Brief is what is kept of a group of many.
type Brief struct {
	Key        string            `json:"key"`
	Ways       []int             `json:"ways"`
	Failures   int               `json:"failures"`
	Verdict    triage.Verdict    `json:"verdict"`
	Confidence triage.Confidence `json:"confidence"`
}

// maxGroups are as many as the document of a triage has.
const maxGroups = 200

// Say is a decision as a record has it, without credentials.
func Say(d decision.Decision) (Said, error) {
	said := Said{Groups: []json.RawMessage{}}
	for i, g := range d.Groups {
		if i >= maxGroups {
			said.Rest = append(said.Rest, Brief{g.Key, g.Ways, g.Failures, g.Verdict, g.Confidence})
			continue
		}
		raw, err := json.Marshal(g)
		if err != nil {
			return said, fmt.Errorf("encoding what was decided of group %s: %w", g.Key, err)
		}
		said.Groups = append(said.Groups, redact.JSON(raw))
	}
	d.Groups = nil
	raw, err := json.Marshal(d)
	if err != nil {
		return said, fmt.Errorf("encoding what was decided of the run: %w", err)
	}
	said.Run = redact.JSON(raw)
	return said, nil
}

// Decision is what was said, as far as it is kept.
func (s Said) Decision() (decision.Decision, error) {
	var d decision.Decision
	if err := json.Unmarshal(s.Run, &d); err != nil {
		return d, fmt.Errorf("what was decided of the run: %w", err)
	}
	d.Groups = nil
	for i, raw := range s.Groups {
		var g decision.Group
		if err := json.Unmarshal(raw, &g); err != nil {
			return d, fmt.Errorf("what was decided of group %d: %w", i+1, err)
		}
		d.Groups = append(d.Groups, g)
	}
	for _, b := range s.Rest {
		d.Groups = append(d.Groups, decision.Group{
			Key: b.Key, Ways: b.Ways, Failures: b.Failures, Verdict: b.Verdict, Confidence: b.Confidence,
		})
	}
	return d, nil
}
