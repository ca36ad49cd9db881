package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// Verdict is what a replay comes to.
type Verdict string

// What a replay comes to.
const (
	// Same: each decision comes out as it is recorded.
	Same Verdict = "same"
	// Diverged: a decision comes out different. What is recorded after it belongs to another history.
	Diverged Verdict = "diverged"
	// Unreplayable: the record lacks what a decision takes, and nothing before it differs.
	Unreplayable Verdict = "unreplayable"
	// Void: the program that recorded the run decides otherwise than it did, so that no replay by it means anything.
	Void Verdict = "void"
)

// Options say what a run is replayed with.
type Options struct {
	// Make makes the runbook, as it is now, from inputs; it looks at no world.
	Make func(inputs json.RawMessage) (runbook.Runbook, error)
	// Program is the version of this program, to tell whether it is the one that recorded the run.
	Program string
	// Set are inputs that the run is asked about instead of its own; nil for those that it had.
	Set []Setting
	// Remarks are what the caller knows of the record, besides what it says itself.
	Remarks []string
}

// Result is a run replayed.
type Result struct {
	Run     string         `json:"run"`
	Runbook string         `json:"runbook"`
	Target  runbook.Target `json:"target"`
	// Recorded and Now are the versions of the runbook, and of the program where the record names it.
	Recorded Versions `json:"recorded"`
	Now      Versions `json:"now"`
	Verdict  Verdict  `json:"verdict"`
	// Reason says in a sentence why the verdict is not Same.
	Reason string `json:"reason,omitempty"`
	// Remarks say what the record may lack at its end, whatever the verdict on the rest of it.
	Remarks []string `json:"remarks,omitempty"`
	// Checked tells whether the record could be checked against the program that wrote it.
	Checked bool `json:"selfChecked"`
	// Inputs are those that differ from the recorded ones.
	Inputs []Change `json:"inputs,omitempty"`
	// Untaken are inputs that were set and that no decision takes: what another value would have changed can't be told.
	Untaken   []string   `json:"untaken,omitempty"`
	Decisions []Decision `json:"decisions"`
	// book is the runbook with the recorded inputs.
	book runbook.Runbook
}

// Versions are those of a runbook and of its program.
type Versions struct {
	Runbook string `json:"runbook"`
	Program string `json:"program,omitempty"`
}

// Change is a value then and now.
type Change struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Decision is one evaluation of a run, then and now.
type Decision struct {
	// Seq is the position of its entry in the record.
	Seq int       `json:"entry"`
	At  time.Time `json:"at"`
	// For is "start", "resume", "step NAME" or "checks".
	For     string  `json:"for"`
	Verdict Verdict `json:"verdict"`
	// Conditional decisions come after one that diverged: the world that they were made on might never have been.
	Conditional bool            `json:"conditional,omitempty"`
	Recorded    journal.Verdict `json:"recorded"`
	// Now is what is decided now; absent where that can't be told.
	Now    *journal.Verdict `json:"now,omitempty"`
	Guards []Guard          `json:"guards"`
}

// Acts tells whether the run would go on after this decision.
func Acts(verdict journal.Verdict) bool { return verdict.Outcome == "" }

// Run replays a run. The record's decisions are first made with the recorded inputs: where runbook and program are
// those that recorded it, each must come out equal to the byte.
func Run(history *journal.History, options Options) (Result, error) {
	header := history.Header
	book, err := options.Make(header.Inputs)
	if err != nil {
		return Result{}, fmt.Errorf("making runbook %q from the recorded inputs: %w", header.Runbook, err)
	}
	result := Result{
		Run: header.Run, Runbook: header.Runbook, Target: header.Target,
		Recorded: Versions{header.Version, header.Program}, Now: Versions{book.Version, options.Program}, book: book,
		Remarks: append(remarks(history), options.Remarks...),
	}
	result.Decisions, err = decisions(history, book)
	if err != nil {
		return Result{}, err
	}
	result.Checked = result.Recorded == result.Now
	if result.Checked && result.void() {
		return result, nil
	}
	now, err := with(header.Inputs, options.Set)
	if err != nil {
		return Result{}, err
	}
	if len(options.Set) > 0 {
		if book, err = options.Make(now); err != nil {
			return Result{}, fmt.Errorf("making runbook %q with other inputs: %w", header.Runbook, ofAnotherForm(err))
		}
		if result.Decisions, err = decisions(history, book); err != nil {
			return Result{}, err
		}
	}
	if result.Inputs, err = changes(header.Inputs, book.Inputs); err != nil {
		return Result{}, err
	}
	conclude(&result)
	if err := explain(&result, history, options); err != nil {
		return Result{}, err
	}
	if result.Untaken, err = untaken(history, options); err != nil {
		return Result{}, err
	}
	if result.Verdict == Same && len(result.Untaken) > 0 {
		result.Verdict = Unreplayable
		result.Reason = fmt.Sprintf("unreplayable(input %s): no decision takes it. It may choose what is read, and what "+
			"would have been read then the record does not tell", strings.Join(result.Untaken, ", "))
	}
	return result, nil
}

// void finds the first decision that is not equal to the byte, or to what can be said of a record that lacks
// something: then the rest of the replay means nothing.
func (r *Result) void() bool {
	for _, decision := range r.Decisions {
		for _, guard := range decision.Guards {
			if guard.State != Equal && guard.State != Lacking {
				r.Verdict = Void
				r.Reason = fmt.Sprintf("entry %d, %s: guard %s decides otherwise than this very program recorded: %s. "+
					"The record is not its own, the guard does not decide by its reading alone, or the program was changed and "+
					"kept its version",
					decision.Seq, decision.For, guard.Name, guard.difference())
				return true
			}
		}
		if decision.Now != nil && *decision.Now != decision.Recorded {
			r.Verdict = Void
			r.Reason = fmt.Sprintf("entry %d, %s: decided %s, recorded %s", decision.Seq, decision.For,
				words(*decision.Now), words(decision.Recorded))
			return true
		}
	}
	return false
}

// conclude finds the first decision that is not the same. What comes after it is conditional on it.
func conclude(r *Result) {
	r.Verdict = Same
	for i := range r.Decisions {
		decision := &r.Decisions[i]
		decision.Conditional = r.Verdict != Same
		if decision.Verdict != Same && !decision.Conditional {
			r.Verdict = decision.Verdict
			r.Reason = fmt.Sprintf("entry %d, %s: %s", decision.Seq, decision.For, decision.reason())
		}
	}
}

func (d Decision) reason() string {
	for _, guard := range d.Guards {
		if guard.State == Lacking {
			return fmt.Sprintf("unreplayable(%s: %s)", guard.Name, guard.Lacks)
		}
		if guard.State == Different && d.Verdict == Diverged {
			return fmt.Sprintf("%s; recorded: %s; now: %s", guard.difference(), words(d.Recorded), words(*d.Now))
		}
	}
	if d.Now == nil {
		return "unreplayable(the runbook as it is now does not ask for this)"
	}
	return fmt.Sprintf("recorded: %s; now: %s", words(d.Recorded), words(*d.Now))
}

// words is a decision in a few words.
func words(verdict journal.Verdict) string {
	if Acts(verdict) {
		return "go on"
	}
	return string(verdict.Outcome)
}

// Verify makes all decisions of a record again with the runbook that made them, and says what is not equal.
func Verify(history *journal.History, book runbook.Runbook) error {
	made, err := decisions(history, book)
	if err != nil {
		return err
	}
	result := Result{Decisions: made}
	if result.void() {
		return fmt.Errorf("replaying run %s of %s: %s", history.Header.Run, history.Header.Runbook, result.Reason)
	}
	for _, decision := range made {
		if decision.Verdict == Unreplayable {
			return fmt.Errorf("replaying run %s of %s: entry %d, %s: %s", history.Header.Run, history.Header.Runbook,
				decision.Seq, decision.For, decision.reason())
		}
	}
	return nil
}

// decisions makes those of a record again.
func decisions(history *journal.History, book runbook.Runbook) ([]Decision, error) {
	var made []Decision
	readings, narrowed := history.Readings(), narrowedAt(history)
	for _, entry := range history.Entries {
		if entry.Kind != journal.Evaluated || entry.Seq < narrowed {
			continue
		}
		evaluation, err := readings.Evaluation(entry)
		if err != nil {
			return nil, fmt.Errorf("entry %d of the journal: %w", entry.Seq, err)
		}
		decision := Decision{Seq: entry.Seq, At: entry.At, For: evaluation.For, Recorded: evaluation.Decision}
		if err := decision.again(readings, book, evaluation); err != nil {
			return nil, fmt.Errorf("entry %d of the journal: %w", entry.Seq, err)
		}
		made = append(made, decision)
	}
	return made, nil
}

// narrowedAt is the position of the approval that gave the run other inputs; zero where none did. All guards were asked
// again after it, and nothing was changed before.
func narrowedAt(history *journal.History) int {
	for _, entry := range slices.Backward(history.Entries) {
		var approval journal.Approval
		if entry.Kind == journal.Approved && json.Unmarshal(entry.Data, &approval) == nil && len(approval.Inputs) > 0 {
			return entry.Seq
		}
	}
	return 0
}

// again makes a decision by what the runbook asks now.
func (d *Decision) again(readings *journal.Readings, book runbook.Runbook, recorded journal.Evaluation) error {
	asked, known := engine.GuardsFor(book, recorded)
	if !known {
		d.Verdict = Unreplayable
		return nil
	}
	if len(recorded.Findings) > 0 && recorded.Findings[0].Guard == engine.Freshness {
		asked = nil // they were asked before it, and that took too long
	}
	posture := book.Posture
	if recorded.For == "checks" {
		posture = runbook.FailClosed
	}
	if onlyStale(recorded) {
		asked = nil
	}
	var findings []runbook.Finding
	stopped := false
	for _, guard := range asked {
		then, err := recordedOf(readings, recorded, guard.Name)
		if err != nil {
			return err
		}
		now, finding := then.replayed(guard)
		d.Guards = append(d.Guards, now)
		if now.State == Lacking {
			d.Verdict = Unreplayable
			return nil
		}
		findings = append(findings, finding)
		if stopped = !finding.Passes() && recorded.For != "checks"; stopped {
			break
		}
	}
	for _, finding := range recorded.Findings {
		known := func(guard Guard) bool { return guard.Name == finding.Guard }
		switch {
		case finding.Guard == engine.Freshness: // the engine's own, about how long asking took
			d.Guards = append(d.Guards, Guard{Name: finding.Guard, State: Equal})
			findings = append(findings, finding)
		case !stopped && !slices.ContainsFunc(d.Guards, known):
			d.Guards = append(d.Guards, Guard{Name: finding.Guard, State: Different, Recorded: brief(finding)})
		}
	}
	decided := engine.Decide(posture, findings)
	d.Now, d.Verdict = &decided, Same
	if decided.Outcome != d.Recorded.Outcome {
		d.Verdict = Diverged
	}
	return nil
}

// onlyStale tells whether the engine decided without the guards: it had asked them again and again, each evaluation is
// an entry before this one, and asking took too long each time.
func onlyStale(recorded journal.Evaluation) bool {
	return len(recorded.Findings) == 1 && recorded.Findings[0].Guard == engine.Freshness
}
