package timeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"salve/journal"
)

// step is what a record says of one step.
type step struct {
	group, name string
	attempts    []attempt
	// result is empty when the step never began.
	result journal.ResultKind
	reason string
}

// attempt is one try. Its end is that of the record where it has none.
type attempt struct {
	began, ended time.Time
	result       journal.ResultKind
	// told: what became of it was found out later, and not when it ended.
	told bool
}

func (s step) took() time.Duration {
	var took time.Duration
	for _, one := range s.attempts {
		took += one.ended.Sub(one.began)
	}
	return took
}

// record is a record put in order.
type record struct {
	steps        []*step
	byName       map[string]*step
	began, ended time.Time
	// open are the steps whose last attempt has no outcome yet.
	open map[string]bool
}

// Part is a run that did a part of another's work, such as the run of one pipeline of several.
type Part struct {
	// Name stands before its steps.
	Name string
	// History is nil where the run did not begin; Steps are those that it would have had.
	History *journal.History
	Steps   []string
}

func (p Part) read() (*record, error) {
	if p.History != nil {
		one, err := read(p.History)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", p.History.Header.Run, err)
		}
		return one, nil
	}
	none := &record{byName: map[string]*step{}}
	for _, name := range p.Steps {
		none.step(name)
	}
	return none, nil
}

// readWhole puts the record of a run in order, or instead those of its parts, in their order. The time is that of the
// whole.
func readWhole(whole *journal.History, parts []Part) (*record, error) {
	all, err := read(whole)
	if err != nil || len(parts) == 0 {
		return all, err
	}
	all.steps = nil
	for _, part := range parts {
		one, err := part.read()
		if err != nil {
			return nil, err
		}
		for _, at := range one.steps {
			at.group = part.Name + "/" + at.group
			all.steps = append(all.steps, at)
		}
		if !one.began.IsZero() && one.began.Before(all.began) { // a run that was open before
			all.began = one.began
		}
		if one.ended.After(all.ended) {
			all.ended = one.ended
		}
	}
	return all, nil
}

func read(history *journal.History) (*record, error) {
	c := &record{byName: map[string]*step{}, open: map[string]bool{}}
	if history.Plan != nil {
		for _, planned := range history.Plan.Steps {
			c.step(planned.Name)
		}
	}
	for _, entry := range history.Entries {
		if c.began.IsZero() {
			c.began = entry.At
		}
		c.ended = entry.At
		if err := c.take(entry); err != nil {
			return nil, fmt.Errorf("entry %d of the journal, %s: %w", entry.Seq, entry.Kind, err)
		}
	}
	for name := range c.open {
		open := c.byName[name]
		open.result, open.reason = journal.Unknown, "what became of it is not in the record"
		last := &open.attempts[len(open.attempts)-1]
		last.ended, last.result = c.ended, journal.Unknown
	}
	return c, nil
}

func (c *record) step(id string) *step {
	if known := c.byName[id]; known != nil {
		return known
	}
	group, name, _ := strings.Cut(id, "/")
	c.byName[id] = &step{group: group, name: name}
	c.steps = append(c.steps, c.byName[id])
	return c.byName[id]
}

func (c *record) take(entry journal.Entry) error {
	switch entry.Kind {
	case journal.Intended:
		at := c.step(entry.Step)
		at.attempts = append(at.attempts, attempt{began: entry.At})
		c.open[entry.Step] = true
	case journal.Outcome:
		var result journal.Result
		if err := json.Unmarshal(entry.Data, &result); err != nil {
			return err
		}
		at := c.step(entry.Step)
		at.result, at.reason = result.Result, result.Reason
		if c.open[entry.Step] {
			last := &at.attempts[len(at.attempts)-1]
			last.ended, last.result, last.told = entry.At, result.Result, result.Observed
		}
		delete(c.open, entry.Step)
	default: // of the run, not of a step
	}
	return nil
}

// Took is how long each step of a run takes, such as fleet/cluster: its last
// attempt, where that is the one that did it. Of steps that were not done, left out,
// or said by an operator to be done, nobody knows.
func Took(history *journal.History) (map[string]time.Duration, error) {
	c, err := read(history)
	if err != nil {
		return nil, err
	}
	took := map[string]time.Duration{}
	for name, at := range c.byName {
		if len(at.attempts) == 0 {
			continue
		}
		if last := at.attempts[len(at.attempts)-1]; last.result == journal.Done && !last.told {
			took[name] = last.ended.Sub(last.began)
		}
	}
	return took, nil
}
