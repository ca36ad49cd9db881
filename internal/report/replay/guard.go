package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"salve/internal/redact"
	"salve/journal"
	"salve/runbook"
)

// State is how a guard's finding compares with the recorded one.
type State string

// How findings compare.
const (
	// Equal: to the byte.
	Equal State = "equal"
	// Reworded: the same answer for another reason, or with other evidence.
	Reworded State = "reworded"
	// Different: another answer, another ending, or another say of who may override it.
	Different State = "different"
	// Lacking: the record does not have what the guard takes.
	Lacking State = "unreplayable"
)

// Guard is one guard's finding, then and now.
type Guard struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Recorded and Now are absent where the guard was, or is, not asked.
	Recorded *Finding `json:"recorded,omitempty"`
	Now      *Finding `json:"now,omitempty"`
	// Lacks is what the record does not have.
	Lacks string `json:"lacks,omitempty"`
	// Because is the first input that makes the difference; absent where the inputs are the same, and the guard itself
	// decides otherwise.
	Because *Change `json:"because,omitempty"`
}

// Finding is the part of a finding that a run's decision rests on.
type Finding struct {
	Answer   runbook.Answer  `json:"answer"`
	Reason   string          `json:"reason"`
	Outcome  runbook.Outcome `json:"outcome,omitempty"`
	Locked   bool            `json:"notOverridable,omitempty"`
	Override string          `json:"override,omitempty"`
}

func brief(finding runbook.Finding) *Finding {
	return &Finding{finding.Answer, finding.Reason, finding.Outcome, finding.Locked, finding.Override}
}

// difference says what differs: which field, old → new.
func (g Guard) difference() string {
	if g.Because != nil {
		return fmt.Sprintf("guard %s, %s: %s → %s", g.Name, g.Because.Field, g.Because.Old, g.Because.New)
	}
	change := g.change()
	return fmt.Sprintf("guard %s, %s: %s → %s", g.Name, change.Field, change.Old, change.New)
}

// answer is what the guard says now; empty where it is not asked.
func (g Guard) answer() runbook.Answer {
	if g.Now == nil {
		return ""
	}
	return g.Now.Answer
}

// change is the first part of a finding that differs.
func (g Guard) change() Change {
	switch then, now := g.Recorded, g.Now; {
	case then == nil:
		return Change{"finding", "not asked", string(now.Answer)}
	case now == nil:
		return Change{"finding", string(then.Answer), "not asked"}
	case then.Answer != now.Answer:
		return Change{"answer", string(then.Answer) + " (" + then.Reason + ")", string(now.Answer) + " (" + now.Reason + ")"}
	case then.Outcome != now.Outcome:
		return Change{"outcome", orNone(string(then.Outcome)), orNone(string(now.Outcome))}
	case then.Locked != now.Locked:
		return Change{"notOverridable", fmt.Sprint(then.Locked), fmt.Sprint(now.Locked)}
	case then.Reason != now.Reason:
		return Change{"reason", then.Reason, now.Reason}
	}
	return Change{"evidence", "recorded", "other"}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// recorded is what a record holds of a guard in one evaluation.
type recorded struct {
	// finding is nil when the guard was not asked.
	finding *runbook.Finding
	reading runbook.Reading
	masked  bool
}

func recordedOf(readings *journal.Readings, evaluation journal.Evaluation, guard string) (recorded, error) {
	var then recorded
	for _, finding := range evaluation.Findings {
		if finding.Guard == guard {
			then.finding = &finding
		}
	}
	for _, one := range evaluation.Readings {
		if one.Guard != guard {
			continue
		}
		reading, err := readings.Unpack(one)
		if err != nil {
			return recorded{}, err
		}
		then.reading, then.masked = reading, one.Masked
	}
	return then, nil
}

// replayed asks a guard again by what is recorded for it.
func (r recorded) replayed(guard runbook.Guard) (Guard, runbook.Finding) {
	now := Guard{Name: guard.Name}
	if r.finding == nil {
		now.State, now.Lacks = Lacking, "its reading: it was not asked then"
		return now, runbook.Finding{}
	}
	now.Recorded = brief(*r.finding)
	finding, err := decide(guard, r.reading)
	var lacking *runbook.UnreplayableError
	switch {
	case errors.As(err, &lacking):
		now.State, now.Lacks = Lacking, lacking.What
		return now, finding
	case err != nil:
		now.State, now.Lacks = Lacking, err.Error()
		return now, finding
	}
	if r.finding.Override != "" && !finding.Locked && finding.Answer != runbook.AnswerHolds {
		finding.Override = r.finding.Override
	}
	now.Now = brief(finding)
	now.State = r.compare(finding)
	if now.State != Equal && r.masked {
		now.State, now.Lacks = Lacking, "what was masked in its reading"
	}
	return now, finding
}

// decide asks a guard; one that panics can't be asked.
func decide(guard runbook.Guard, reading runbook.Reading) (finding runbook.Finding, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("the guard panics: %v", value)
		}
	}()
	return guard.Decide(reading)
}

// compare compares what is recorded, which is masked, with what is found now.
func (r recorded) compare(now runbook.Finding) State {
	then := *r.finding
	if then.Answer != now.Answer || then.Outcome != now.Outcome || then.Locked != now.Locked {
		return Different
	}
	if r.reading.Failure != nil { // what else was known when it failed is not part of the failure
		then.Evidence, now.Evidence = nil, nil
	}
	thenRaw, thenErr := json.Marshal(then)
	nowRaw, nowErr := json.Marshal(now)
	switch {
	case errors.Join(thenErr, nowErr) != nil:
		return Reworded
	case bytes.Equal(thenRaw, nowRaw), bytes.Equal(redact.JSON(thenRaw), redact.JSON(nowRaw)):
		return Equal
	}
	return Reworded
}
