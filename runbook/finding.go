package runbook

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Answer is what a guard says of its question.
type Answer string

const (
	// Holds: seen, and so.
	AnswerHolds Answer = "holds"
	// DoesNotHold: seen, and not so.
	AnswerDoesNotHold Answer = "does-not-hold"
	// Unknown: it could not be seen. It is never turned into one of the others.
	AnswerUnknown Answer = "unknown"
)

// Evidence is one observed fact.
type Evidence struct {
	// Source says where it was seen, such as "ARM managedClusters/prod-1".
	Source string `json:"source"`
	// Identity pins what was seen: an ETag, a resourceVersion, a UID.
	Identity string `json:"identity,omitempty"`
	// Seen is when it was observed.
	Seen time.Time `json:"seen"`
	// Value is the fact itself.
	Value json.RawMessage `json:"value,omitempty"`
}

// Saw makes evidence. The value must be encodable as JSON.
func NewEvidence(source, identity string, seen time.Time, value any) Evidence {
	raw, err := json.Marshal(value)
	if err != nil {
		raw, _ = json.Marshal(fmt.Sprintf("not encodable: %v", err))
	}
	return Evidence{Source: source, Identity: identity, Seen: seen.UTC(), Value: raw}
}

// Finding is a guard's answer.
type Finding struct {
	Guard    string     `json:"guard"`
	Answer   Answer     `json:"answer"`
	Reason   string     `json:"reason"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Ends is how the run ends when the guard does not hold; empty means
	// NothingToDo. It plays no part when the answer is Unknown.
	Outcome Outcome `json:"outcome,omitempty"`
	// Binding says that no override may pass over this finding.
	Locked bool `json:"notOverridable,omitempty"`
	// Override is the reason a person gave for going on in spite of it.
	Override string `json:"override,omitempty"`
}

// Yes is a finding that holds.
func Yes(reason string, evidence ...Evidence) Finding {
	return Finding{Answer: AnswerHolds, Reason: reason, Evidence: evidence}
}

// No is a finding that does not hold.
func No(reason string, evidence ...Evidence) Finding {
	return Finding{Answer: AnswerDoesNotHold, Reason: reason, Evidence: evidence}
}

// Unseen is a finding that could not be made, with the cause.
func Unseen(cause string, evidence ...Evidence) Finding {
	return Finding{Answer: AnswerUnknown, Reason: cause, Evidence: evidence}
}

// Ending gives the finding another ending than NothingToDo.
func (f Finding) WithOutcome(outcome Outcome) Finding {
	f.Outcome = outcome
	return f
}

// Bound gives the finding that no override passes over.
func (f Finding) NotOverridable() Finding {
	f.Locked = true
	return f
}

// Passes tells whether the run may go on past this finding: it holds, or a
// person overrode it.
func (f Finding) Passes() bool {
	return f.Answer == AnswerHolds || (f.Override != "" && !f.Locked)
}

// Any combines findings in three-valued logic: holds when one holds, otherwise
// unknown when one is unknown, otherwise does-not-hold. Without findings it is
// unknown, because nothing was seen.
func Any(findings ...Finding) Finding {
	combined := Finding{Answer: AnswerUnknown, Reason: "nothing was looked at"}
	var reasons []string
	unknown := len(findings) == 0
	for _, f := range findings {
		combined.Evidence = append(combined.Evidence, f.Evidence...)
		if f.Answer == AnswerHolds {
			combined.Answer, combined.Reason = AnswerHolds, named(f)
			return combined
		}
		unknown = unknown || f.Answer == AnswerUnknown
		reasons = append(reasons, named(f))
	}
	if len(reasons) > 0 {
		combined.Reason = strings.Join(reasons, "; ")
	}
	if !unknown {
		combined.Answer = AnswerDoesNotHold
	}
	return combined
}

func named(f Finding) string {
	if f.Guard == "" {
		return f.Reason
	}
	return f.Guard + ": " + f.Reason
}
