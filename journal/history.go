package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"salve/runbook"
)

// History is what a record's entries add up to. It is a pure function of them.
type History struct {
	Header  Header
	Entries []Entry
	// Epoch is the highest that wrote an entry.
	Epoch int64
	Plan  *runbook.Plan
	// RollingBack, Parked and Closed are the newest verdicts of those kinds; Parked
	// is cleared when the run is resumed.
	RollingBack, Parked, Closed *Verdict
	// MigratedTo is where the record was migrated to: the run is open there, and
	// closed here. Nil when it is here.
	MigratedTo *Destination
	// Asked is the question that the run waits with for an approval; nil when it does not wait.
	Asked *Question
	// used are the statements that were used.
	used map[string]bool
	// Torn says that something stood behind the last complete line: an entry whose writer died, or is at work.
	Torn  bool
	steps map[string]*StepHistory
	order []string
	notes map[string]json.RawMessage
	// noted is the position of the newest note of each name.
	noted   map[string]int
	exports map[string]Export
	// parts are the positions at which parts of readings stand, by their digests.
	parts        map[string]int
	readingBytes int
	// private are the values, by position, that are kept apart from the record;
	// unread those that could not be read.
	private map[int]json.RawMessage
	unread  map[int]error
}

// StepHistory is what became of a step.
type StepHistory struct {
	Name string
	// Attempts counts the intents.
	Attempts int
	// Open says that the newest intent has no outcome.
	Open bool
	// Permit and Intended are the newest intent's.
	Permit   string
	Intended time.Time
	// crossed: an intent of the point of no return was written that the world did
	// not refuse; before tells the same of the time before the newest intent.
	crossed, before bool
	// Last is the newest outcome, zero when there is none.
	Last Result
}

// Finished tells whether the step was done.
func (s StepHistory) Finished() bool { return !s.Open && s.Last.Result == Done }

// Skipped tells whether the step was left out when its turn came.
func (s StepHistory) Skipped() bool { return !s.Open && s.Last.Result == Skipped }

// Crossed tells whether the step's point of no return may lie behind.
func (s StepHistory) Crossed() bool { return s.crossed }

// Unsettled tells whether a change was announced of which it isn't known
// whether it happened: the world has to be asked before anything else.
func (s StepHistory) Unsettled() bool { return s.Open || s.Last.Result == Unknown }

// Step gives the history of a step; zero when it never began.
func (h *History) Step(name string) StepHistory {
	if s := h.steps[name]; s != nil {
		return *s
	}
	return StepHistory{Name: name}
}

// Steps gives the steps in the order in which they began.
func (h *History) Steps() []StepHistory {
	var steps []StepHistory
	for _, name := range h.order {
		steps = append(steps, *h.steps[name])
	}
	return steps
}

// PastReturn tells whether the change at the point of no return was announced
// and not certainly refused. From then on nothing may be undone, whether or not
// the change happened.
func (h *History) PastReturn() bool {
	for _, s := range h.steps {
		if s.crossed {
			return true
		}
	}
	return false
}

// Changed tells whether any change was announced.
func (h *History) Changed() bool {
	for _, s := range h.steps {
		if s.Attempts > 0 {
			return true
		}
	}
	return false
}

// noteKey is what a note is kept under: resume tokens belong to their step, because
// steps may be at work in parallel.
func noteKey(step, name string) string {
	if name == runbook.OperationNote {
		return name + " " + step
	}
	return name
}

// Recall reads the newest note of a name.
func (h *History) Recall(name string, into any) (bool, error) { return h.RecallOf("", name, into) }

// RecallOf is Recall for what belongs to a step: its resume token.
func (h *History) RecallOf(step, name string, into any) (bool, error) {
	raw, found := h.notes[noteKey(step, name)]
	if !found {
		return false, nil
	}
	if err := h.unread[h.noted[noteKey(step, name)]]; err != nil {
		return false, fmt.Errorf("reading note %q back from the journal: %w", name, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, fmt.Errorf("reading note %q back from the journal: %w", name, err)
	}
	return true, nil
}

func newHistory() *History {
	return &History{
		steps: map[string]*StepHistory{}, notes: map[string]json.RawMessage{}, noted: map[string]int{},
		exports: map[string]Export{}, parts: map[string]int{}, private: map[int]json.RawMessage{}, unread: map[int]error{},
	}
}

func replay(entries []Entry, private map[int]json.RawMessage, unread map[int]error) (*History, error) {
	h := newHistory()
	h.private, h.unread = private, unread
	for _, entry := range entries {
		if err := h.add(entry); err != nil {
			return nil, fmt.Errorf("entry %d: %w", entry.Seq, err)
		}
	}
	return h, nil
}

func (h *History) add(entry Entry) error {
	if (entry.Seq == 1) != (entry.Kind == Opened) {
		return fmt.Errorf("a record begins with one %q entry, not %q", Opened, entry.Kind)
	}
	if err := h.take(entry); err != nil {
		return fmt.Errorf("%s: %w", entry.Kind, err)
	}
	h.Epoch = max(h.Epoch, entry.Epoch)
	h.Entries = append(h.Entries, entry)
	return nil
}

func (h *History) take(entry Entry) error {
	switch entry.Kind {
	case Opened:
		err := json.Unmarshal(entry.Data, &h.Header)
		if h.Header.Private != nil {
			h.Header.Inputs = h.private[entry.Seq]
		}
		return err
	case Planned:
		h.Plan = new(runbook.Plan)
		return json.Unmarshal(entry.Data, h.Plan)
	case Intended, Outcome:
		return h.takeStep(entry)
	case Noted:
		var note Note
		err := json.Unmarshal(entry.Data, &note)
		if note.Private != nil {
			note.Value = h.private[entry.Seq]
		}
		key := noteKey(entry.Step, note.Name)
		h.notes[key], h.noted[key] = note.Value, entry.Seq
		return err
	case Exported:
		var export Export
		err := json.Unmarshal(entry.Data, &export)
		h.exports[export.Name] = export
		return err
	case Asked, Approved, Denied:
		return h.takeApproval(entry)
	case Resumed:
		h.Parked, h.Asked = nil, nil
		var resumption Resumption
		err := json.Unmarshal(entry.Data, &resumption)
		for guard, reason := range resumption.Overrides {
			if h.Header.Overrides == nil {
				h.Header.Overrides = map[string]string{}
			}
			h.Header.Overrides[guard] = reason
		}
		if len(resumption.Inputs) > 0 {
			h.Header.Inputs, h.Header.Private = resumption.Inputs, resumption.Private
			if resumption.Private != nil {
				h.Header.Inputs = h.private[entry.Seq]
			}
		}
		return err
	case RollingBack:
		return verdict(entry, &h.RollingBack)
	case Parked:
		h.Asked = nil
		return verdict(entry, &h.Parked)
	case Closed:
		h.MigratedTo, h.Asked = nil, nil
		return verdict(entry, &h.Closed)
	case Migrated:
		h.MigratedTo = new(Destination)
		err := json.Unmarshal(entry.Data, h.MigratedTo)
		h.Closed = &Verdict{Outcome: runbook.Deferred, Reason: "migrated to " + h.MigratedTo.Where + ", where it goes on"}
		return err
	case Arrived:
		h.MigratedTo, h.Closed = nil, nil
	case Evaluated:
		return h.takeParts(entry)
	case Warned, Interrupted, Requested:
	default:
		return fmt.Errorf("unknown kind %q", entry.Kind)
	}
	return nil
}

func (h *History) takeStep(entry Entry) error {
	step := h.steps[entry.Step]
	if step == nil {
		step = &StepHistory{Name: entry.Step}
		h.steps[entry.Step] = step
		h.order = append(h.order, entry.Step)
	}
	if entry.Kind == Outcome {
		step.Open = false
		step.Last = Result{}
		err := json.Unmarshal(entry.Data, &step.Last)
		if step.Last.Result != Unknown {
			delete(h.notes, noteKey(entry.Step, runbook.OperationNote))
		}
		if step.Last.Refused {
			step.crossed = step.before
		}
		return err
	}
	var intent Intent
	err := json.Unmarshal(entry.Data, &intent)
	step.Attempts, step.Open, step.Permit, step.Intended = intent.Attempt, true, intent.Permit, entry.At
	step.before, step.crossed = step.crossed, step.crossed || intent.Irreversible
	delete(h.notes, noteKey(entry.Step, runbook.OperationNote))
	return err
}

func verdict(entry Entry, into **Verdict) error {
	*into = new(Verdict)
	return json.Unmarshal(entry.Data, *into)
}
