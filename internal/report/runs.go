package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"salve/journal"
	"salve/runbook"
)

// Listed is one run in a list of runs.
type Listed struct {
	Run     string `json:"run"`
	Runbook string `json:"runbook,omitempty"`
	Target  string `json:"target,omitempty"`
	// Opened is when the run began; the zero time when that can't be read.
	Opened time.Time `json:"opened,omitzero"`
	// Took is the time from the first entry to the last, in seconds.
	Took float64 `json:"tookSeconds,omitempty"`
	Standing
	// State is the Standing for people: an outcome, "open" with or without one, StateBroken or StateUnverified.
	State string `json:"state"`
	// Reason says why it ended so, or what is broken.
	Reason string `json:"reason,omitempty"`
}

// The states of records that are not believed.
const (
	// StateBroken is that of a record whose chain or seal is wrong.
	StateBroken = "broken"
	// StateUnverified is that of a record whose seal nobody could look at here.
	StateUnverified = "unverified"
)

// ListUnverified is List for a record that is not verified, and why: how the run stands is the record's word.
func ListUnverified(history *journal.History, why string) Listed {
	if len(history.Entries) == 0 {
		return Listed{Run: history.Header.Run, Standing: Unbelieved(RecordUnverified), State: StateUnverified, Reason: why}
	}
	listed := List(history)
	claim := strings.TrimRight(strings.Join(strings.Fields(listed.State+", "+listed.Reason), " "), "., ")
	listed.Standing, listed.State = Unbelieved(RecordUnverified), StateUnverified
	listed.Reason = fmt.Sprintf("the record says: %s. But %s", claim, why)
	return listed
}

// List makes a list's line from a run's journal, which holds at least its header.
func List(history *journal.History) Listed {
	first, last := history.Entries[0].At, history.Entries[len(history.Entries)-1].At
	listed := Listed{
		Run: history.Header.Run, Runbook: history.Header.Runbook, Target: history.Header.Target.Name,
		Opened: first, Took: last.Sub(first).Seconds(),
		Standing: StandingOf(history), State: standing(history),
	}
	switch {
	case history.Closed != nil:
		listed.Reason = history.Closed.Reason
	case history.Parked != nil:
		listed.Reason = history.Parked.Reason
	case history.Asked != nil:
		listed.Reason = fmt.Sprintf("asked by %s. hint: salve approve %s --plan %s", history.Asked.Requester,
			history.Header.Run, history.Asked.Digest)
	}
	return listed
}

// Runs writes a list of runs.
func Runs(out io.Writer, width int, runs []Listed) error {
	s := &textWriter{width: width}
	var names, targets, states []string
	for _, run := range runs {
		names, targets, states = append(names, run.Run), append(targets, run.Target), append(states, run.State)
	}
	name, target, state := widest(len("RUN"), names...), widest(len("TARGET"), targets...), widest(len("STATE"), states...)
	s.paint(Faint, "RUN")
	s.line("%s  %s  %s  %s", pad("RUN", name), pad("TARGET", target), pad("TOOK", 8), "STATE")
	for _, run := range runs {
		lead := fmt.Sprintf("%s  %s  %s  ", pad(run.Run, name), pad(run.Target, target), pad(span(seconds(run.Took)), 8))
		s.paint(stateTone(run.State), "  "+run.State)
		s.line("%s%s", lead, pad(run.State, state))
		if run.Reason != "" {
			s.hang("  ", run.Reason)
		}
	}
	return s.flush(out)
}

// Table writes rows below a heading; the last column is wrapped.
func Table(out io.Writer, width int, heading []string, rows [][]string) error {
	s := &textWriter{width: width}
	last := len(heading) - 1
	columns := make([]int, last)
	for _, row := range append([][]string{heading}, rows...) {
		for i := range columns {
			columns[i] = widest(columns[i], row[i])
		}
	}
	for _, row := range append([][]string{heading}, rows...) {
		lead := ""
		for i := range columns {
			lead += pad(row[i], columns[i]) + "  "
		}
		s.hang(lead, row[last])
	}
	return s.flush(out)
}

// Lead writes what an answer begins with: names with a text each, and a blank
// line.
func Lead(out io.Writer, width int, pairs ...string) error {
	s := &textWriter{width: width}
	for i := 0; i+1 < len(pairs); i += 2 {
		s.hang(pairs[i]+": ", pairs[i+1])
	}
	s.line("")
	return s.flush(out)
}

// Asked gives what was found in a run before it acted or stopped: the newest
// finding of each guard, in the order in which they were first asked.
func Asked(history *journal.History) ([]runbook.Finding, error) {
	var asked []runbook.Finding
	for _, entry := range history.Entries {
		if entry.Kind != journal.Evaluated {
			continue
		}
		err := with(entry, func(evaluation journal.Evaluation) {
			for _, finding := range evaluation.Findings {
				same := func(f runbook.Finding) bool { return f.Guard == finding.Guard }
				if i := slices.IndexFunc(asked, same); i >= 0 {
					asked[i] = finding
				} else {
					asked = append(asked, finding)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return asked, nil
}
