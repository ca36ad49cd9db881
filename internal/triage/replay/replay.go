package replay

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/decision"
	"salve/internal/triage/record"
)

// State is what the replay of a group, or of a whole triage, comes to.
type State string

// What a replay comes to.
const (
	// Same: as recorded; with other thresholds, that nothing but the numbers in its sentences is different.
	Same State = "same"
	// Reworded: the same verdict for another reason, or with another confidence or action. It is said of groups alone.
	Reworded State = "reworded"
	// Diverged: another verdict.
	Diverged State = "diverged"
	// Unreplayable: the record lacks what the verdict takes.
	Unreplayable State = "unreplayable"
	// Void: the program that recorded the triage decides otherwise than it did, so that no replay by it means anything.
	Void State = "void"
)

// Options say what a triage is replayed with.
type Options struct {
	// Program and Architecture are this program's, to tell whether it is the one that recorded the triage.
	Program, Architecture string
	// Set are thresholds that are asked about instead of this program's.
	Set []Setting
}

// Result is a triage replayed.
type Result struct {
	Build   string    `json:"build"`
	Created time.Time `json:"created"`
	// Recorded and Now are the programs.
	Recorded string `json:"recorded"`
	Now      string `json:"now"`
	Verdict  State  `json:"verdict"`
	// Reason says in a sentence why the verdict is not Same.
	Reason string `json:"reason,omitempty"`
	// Checked tells whether the record could be checked against the program that wrote it; else Unchecked says why not.
	Checked   bool   `json:"selfChecked"`
	Unchecked string `json:"notChecked,omitempty"`
	// LeftOut says what the record had no room for. Without the scenarios, causes are taken as they are recorded.
	LeftOut []string `json:"leftOut,omitempty"`
	// Thresholds are those that differ from the recorded ones.
	Thresholds []Change `json:"thresholds,omitempty"`
	Run        Run      `json:"run"`
	Groups     []Group  `json:"groups"`
}

// Run is the verdict on the run, then and now.
type Run struct {
	State    State   `json:"state"`
	Recorded Brief   `json:"recorded"`
	Now      *Brief  `json:"now,omitempty"`
	Lacks    string  `json:"lacks,omitempty"`
	Because  *Change `json:"because,omitempty"`
}

// Brief is a verdict with its confidence.
type Brief struct {
	Verdict    triage.Verdict    `json:"verdict"`
	Confidence triage.Confidence `json:"confidence"`
}

// Replay makes the verdicts of a record again. They are first made with the recorded thresholds: where this is the
// program that recorded them, each group must come out equal to the byte. An error is that of a setting.
func Replay(r *record.Record, options Options) (Result, error) {
	result := Result{
		Build: r.Recorded.Build, Created: r.Recorded.Created, Recorded: r.Recorded.Program, Now: options.Program,
		Groups: []Group{},
	}
	now, err := Set(triage.Default(), options.Set)
	if err != nil {
		return result, err
	}
	result.Thresholds = changes(r.Recorded.Thresholds, now)
	said, err := r.Said.Decision()
	if err != nil {
		return result, err
	}
	if r.Evidence == nil {
		result.lacking(said, r.Lacks)
		return result, nil
	}
	result.LeftOut = leftOut(r.Evidence)
	then, strange := recordedThresholds(r.Recorded.Thresholds)
	m := maker{*r.Evidence, map[triage.Thresholds]decision.Decision{}}
	if result.Unchecked = unchecked(r, options, strange); result.Unchecked == "" {
		result.Checked = true
		if difference := m.check(r.Said, then); difference != "" {
			result.Verdict = Void
			result.Reason = difference + ". The record is not its own, or the program was changed and kept its version"
			return result, nil
		}
	}
	decided, err := m.make(now)
	if err != nil {
		return result, fmt.Errorf("deciding again: %w", err)
	}
	c := comparison{said: said, now: decided, ways: r.Evidence.Observed.Ways}
	result.Groups = c.groups()
	result.Run = c.run()
	m.explain(&result, c, then, now)
	result.conclude()
	return result, nil
}

func leftOut(e *decision.Evidence) []string {
	var reasons []string
	if e.Observed.Scenarios == nil && len(e.Observed.Ways) > 0 {
		reasons = append(reasons, e.Observed.Omitted)
	}
	if e.Past.Omitted != "" {
		reasons = append(reasons, e.Past.Omitted)
	}
	return reasons
}

// unchecked says why a record can't be checked against this program; empty if it can be.
func unchecked(r *record.Record, options Options, strange []string) string {
	switch {
	case r.Recorded.Program != options.Program:
		return "the record is of another program"
	case r.Recorded.Architecture != options.Architecture:
		return fmt.Sprintf("it was recorded on %s, where numbers may differ in their last digits", r.Recorded.Architecture)
	case len(strange) > 0:
		return "the record has other thresholds than this program: " + strange[0]
	}
	return ""
}

// lacking is the result where the evidence is not there.
func (r *Result) lacking(said decision.Decision, what string) {
	r.Verdict, r.Reason = Unreplayable, fmt.Sprintf("unreplayable(%s)", what)
	r.Unchecked = "the record does not have " + what
	r.Run = Run{State: Unreplayable, Recorded: Brief{said.Verdict, said.Confidence}, Lacks: what}
	for i := range said.Groups {
		g := groupOf(&said.Groups[i], "")
		g.State, g.Recorded, g.Lacks = Unreplayable, brief(&said.Groups[i]), what
		r.Groups = append(r.Groups, g)
	}
}

// maker makes decisions from the evidence, each once.
type maker struct {
	evidence decision.Evidence
	made     map[triage.Thresholds]decision.Decision
}

func (m *maker) make(t triage.Thresholds) (decision.Decision, error) {
	if made, known := m.made[t]; known {
		return made, nil
	}
	made, err := decision.Decide(m.evidence, t)
	if err != nil {
		return made, err
	}
	m.made[t] = made
	return made, nil
}

// check says what comes out otherwise than it was said, to the byte; empty for nothing. What is lacking can't.
func (m *maker) check(said record.Said, t triage.Thresholds) string {
	made, err := m.make(t)
	if err != nil {
		return err.Error()
	}
	again, err := record.Say(made)
	if err != nil {
		return err.Error()
	}
	if len(said.Groups) != len(again.Groups) || len(said.Rest) != len(again.Rest) {
		return fmt.Sprintf("it decides on %d groups, recorded are %d", len(again.Groups)+len(again.Rest),
			len(said.Groups)+len(said.Rest))
	}
	if made.Lacks == "" {
		if !bytes.Equal(said.Run, again.Run) {
			return fmt.Sprintf("the run: recorded %s, decided %s", said.Run, again.Run)
		}
	}
	recorded, err := said.Decision()
	if err != nil {
		return err.Error()
	}
	for i := range again.Groups {
		if made.Groups[i].Lacks == "" && !bytes.Equal(said.Groups[i], again.Groups[i]) {
			return fmt.Sprintf("group %s: this very program decides otherwise than it recorded: %s",
				made.Groups[i].Key, difference(&recorded.Groups[i], &made.Groups[i]))
		}
	}
	for i := range again.Rest {
		if at := len(again.Groups) + i; made.Groups[at].Lacks == "" && said.Rest[i].Verdict != again.Rest[i].Verdict {
			return fmt.Sprintf("group %s: recorded %s, decided %s", made.Groups[at].Key, said.Rest[i].Verdict,
				again.Rest[i].Verdict)
		}
	}
	return ""
}

// explain finds, for each group that diverged and for the run, the first changed threshold that alone makes the
// difference.
func (m *maker) explain(result *Result, c comparison, then, now triage.Thresholds) {
	values := now.Values()
	for i := range result.Thresholds {
		change := &result.Thresholds[i]
		alone, err := then.With(change.Name, values[change.Name])
		if err != nil {
			continue // this program doesn't have it
		}
		made, err := m.make(alone)
		if err != nil {
			continue // it makes no sense without the others
		}
		only := comparison{said: c.said, now: made, ways: c.ways}
		for _, other := range only.groups() {
			for j := range result.Groups {
				g := &result.Groups[j]
				if g.changed() && g.Because == nil && g.Key == other.Key && g.like(other) {
					g.Because = change
				}
			}
		}
		if run := only.run(); result.Run.State == Diverged && result.Run.Because == nil && run.State == Diverged &&
			run.Now.Verdict == result.Run.Now.Verdict {
			result.Run.Because = change
		}
	}
}

// conclude says what all of it comes to. Groups are decided beside each other: none is conditional on another.
func (r *Result) conclude() {
	r.Verdict = Same
	for _, state := range []State{Diverged, Unreplayable} {
		for i := range r.Groups {
			if g := &r.Groups[i]; g.State == state && r.Verdict == Same {
				r.Verdict, r.Reason = state, g.reason()
			}
		}
		if r.Run.State == state && r.Verdict == Same {
			r.Verdict, r.Reason = state, r.Run.reason()
		}
	}
}

func (r Run) reason() string {
	if r.State == Unreplayable {
		return fmt.Sprintf("the run: unreplayable(%s)", r.Lacks)
	}
	return fmt.Sprintf("the run: %s → %s%s", r.Recorded.Verdict, r.Now.Verdict, because(r.Because))
}

func because(c *Change) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf(", because of %s: %s → %s", c.Name, c.Old, c.New)
}

// Verify makes a triage again with the thresholds that it was recorded with, and says what is not equal or is lacking.
func Verify(r *record.Record) error {
	if r.Evidence == nil {
		return errors.New("the record does not have " + r.Lacks)
	}
	then, strange := recordedThresholds(r.Recorded.Thresholds)
	if len(strange) > 0 {
		return fmt.Errorf("the record has other thresholds: %v", strange)
	}
	m := maker{*r.Evidence, map[triage.Thresholds]decision.Decision{}}
	if difference := m.check(r.Said, then); difference != "" {
		return errors.New(difference)
	}
	if made := m.made[then]; made.Lacks != "" {
		return errors.New("the record does not have " + made.Lacks)
	}
	return nil
}
