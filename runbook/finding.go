package runbook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Answer is what a guard says of its question.
type Answer string

const (
	// AnswerHolds means: observed, and so.
	AnswerHolds Answer = "holds"
	// AnswerDoesNotHold means: observed, and not so.
	AnswerDoesNotHold Answer = "does-not-hold"
	// AnswerUnknown means: it could not be observed. It is never turned into one of the
	// others.
	AnswerUnknown Answer = "unknown"
)

// Evidence is one observed fact.
type Evidence struct {
	// Source says where it was observed, such as "ARM managedClusters/prod-1".
	Source string `json:"source"`
	// Identity pins what was observed: an ETag, a resourceVersion, a UID.
	Identity string `json:"identity,omitempty"`
	// Seen is when it was observed.
	Seen time.Time `json:"seen"`
	// Value is the fact itself. It is part of the plan's digest: a value that
	// changes while the world does not, such as an age, has no place in it.
	Value json.RawMessage `json:"value,omitempty"`
}

// NewEvidence makes evidence. The value must be encodable as JSON.
func NewEvidence(source, identity string, seen time.Time, value any) Evidence {
	raw, err := json.Marshal(value)
	if err != nil {
		raw, _ = json.Marshal(fmt.Sprintf("not encodable: %v", err))
	}
	return Evidence{Source: source, Identity: identity, Seen: seen.UTC(), Value: raw}
}

// Finding is a guard's answer, or that it has none. It is made by Yes, No, Unknown
// or Unknownf: an answer and an error can't be given together. The zero Finding is
// unknown.
type Finding struct {
	Guard    string     `json:"guard"`
	Answer   Answer     `json:"answer"`
	Reason   string     `json:"reason"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Outcome is how the run ends when the guard does not hold; empty means
	// NothingToDo. It plays no part when the answer is unknown.
	Outcome Outcome `json:"outcome,omitempty"`
	// Locked says that no override passes over this finding.
	Locked bool `json:"notOverridable,omitempty"`
	// Override is the reason an operator gave for going on in spite of it.
	Override string `json:"override,omitempty"`
	// Reading is what the decision was made from; nil when the guard kept none. The
	// record keeps it beside the finding.
	Reading *Reading `json:"-"`
	// lacks is what the decision would have taken and was not read; see Unread.
	lacks string
}

// Yes is a finding that holds. Its reason is a format, as that of fmt.Sprintf.
func Yes(format string, args ...any) Finding {
	return Finding{Answer: AnswerHolds, Reason: fmt.Sprintf(format, args...)}
}

// No is a finding that does not hold.
func No(format string, args ...any) Finding {
	return Finding{Answer: AnswerDoesNotHold, Reason: fmt.Sprintf(format, args...)}
}

// Unknown is a finding that could not be made, because of err. A nil error is one
// that forgot its cause: the finding is unknown all the same.
func Unknown(err error) Finding {
	if err == nil {
		err = errors.New("no cause was given")
	}
	return Finding{Answer: AnswerUnknown, Reason: err.Error()}
}

// Unknownf is Unknown with a cause in words.
func Unknownf(format string, args ...any) Finding {
	return Finding{Answer: AnswerUnknown, Reason: fmt.Sprintf(format, args...)}
}

// Unread is the finding of a decision that takes, by its inputs, something that read left out by the inputs of its own
// time: a list that was read up to a limit, a proof that was not needed. What is read and decided at once never comes
// to it; a replay with other inputs does, and is unreplayable there.
func Unread(what string) Finding {
	finding := Unknownf("not read: %s", what)
	finding.lacks = what
	return finding
}

// WithEvidence adds what the finding rests on.
func (f Finding) WithEvidence(evidence ...Evidence) Finding {
	f.Evidence = append(f.Evidence[:len(f.Evidence):len(f.Evidence)], evidence...)
	return f
}

// WithOutcome ends the run with another outcome than NothingToDo when the guard
// does not hold. A successful one makes the run undecided: success is what the
// checks found.
func (f Finding) WithOutcome(outcome Outcome) Finding {
	f.Outcome = outcome
	return f
}

// NotOverridable keeps every override from passing over the finding.
func (f Finding) NotOverridable() Finding {
	f.Locked = true
	return f
}

// read says what the decision was made from.
func (f Finding) read(reading Reading) Finding {
	f.Reading = &reading
	return f
}

// Passes tells whether the run may go on past this finding: it holds, or an
// operator overrode it.
func (f Finding) Passes() bool {
	return f.Answer == AnswerHolds || (f.Override != "" && !f.Locked)
}

// Any combines findings in three-valued logic: holds when one holds, otherwise
// unknown when one is unknown, otherwise does-not-hold. Without findings it is
// unknown, because nothing was observed.
func Any(findings ...Finding) Finding {
	combined := Finding{Answer: AnswerUnknown, Reason: "nothing was observed"}
	var reasons []string
	unknown := len(findings) == 0
	for _, f := range findings {
		combined.Evidence = append(combined.Evidence, f.Evidence...)
		if f.Answer == AnswerHolds {
			combined.Answer, combined.Reason = AnswerHolds, named(f)
			combined.lacks = ""
			return combined
		}
		unknown = unknown || f.Answer != AnswerDoesNotHold
		if combined.lacks == "" {
			combined.lacks = f.lacks
		}
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
