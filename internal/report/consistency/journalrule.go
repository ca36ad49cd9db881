package consistency

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"salve/journal"
	"salve/runbook"
)

// checkJournal holds events that name a run, or one of its steps, against the journal.
func checkJournal(d *document, t *timeline, run *journal.History) ([]Finding, error) {
	if len(run.Entries) == 0 {
		return nil, nil
	}
	var found []Finding
	names := false
	for _, line := range d.lines {
		names = names || strings.Contains(line, run.Header.Run)
	}
	if !names {
		return nil, nil
	}
	for _, e := range t.events {
		entries := entriesNamed(run, e.text)
		if len(entries) == 0 {
			continue
		}
		if f, wrong := contradicting(d, t, e, run, entries); wrong {
			found = append(found, f)
		}
	}
	outcome, err := claimedOutcome(d, run)
	return append(found, outcome...), err
}

// entriesNamed are the entries that a line of a timeline may mean: those of the step that it names, or all when it
// names the run alone.
func entriesNamed(run *journal.History, text string) []journal.Entry {
	var found []journal.Entry
	for _, entry := range run.Entries {
		if entry.Step != "" && strings.Contains(text, entry.Step) {
			found = append(found, entry)
		}
	}
	if len(found) == 0 && strings.Contains(text, run.Header.Run) {
		return run.Entries
	}
	return found
}

// roundedOff is how far an event may be off the entry: people write minutes.
const roundedOff = 90 * time.Second

func contradicting(d *document, t *timeline, e event, run *journal.History, entries []journal.Entry) (Finding, bool) {
	zone := e.zone
	if zone == "" {
		zone = t.zone
	}
	offset, known := offsetOf(t.zone)
	if !known || !e.comparable {
		f := d.finding(ContradictsJournal, []int{e.line}, "can't be compared with run %s: the time zone %q is unknown",
			run.Header.Run, zone)
		return f, true
	}
	nearest, least := entries[0], time.Duration(1<<62)
	for _, entry := range entries {
		at := entry.At.UTC()
		if e.at.Year() < 1970 { // only the time of day is known
			at = beforeZero.Add(at.Sub(at.Truncate(24 * time.Hour)))
		}
		off := e.at.Add(-offset).Sub(at).Abs()
		if e.at.Year() < 1970 {
			off %= 24 * time.Hour
			off = min(off, 24*time.Hour-off)
		}
		if off < least {
			nearest, least = entry, off
		}
	}
	if least <= roundedOff {
		return Finding{}, false
	}
	f := d.finding(ContradictsJournal, []int{e.line}, "the journal of run %s has it at %s",
		run.Header.Run, nearest.At.UTC().Format("2006-01-02 15:04:05 MST"))
	f.Quotes = append(f.Quotes, quoteEntry(run, nearest))
	return f, true
}

func quoteEntry(run *journal.History, entry journal.Entry) Place {
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s", entry.At.UTC().Format(time.RFC3339), entry.Kind, entry.Step))
	return Place{Source: run.Header.Run, Line: entry.Seq, Text: clip(text)}
}

// claimedOutcome finds sentences that name the run and an outcome that it did not have.
func claimedOutcome(d *document, run *journal.History) ([]Finding, error) {
	if run.Closed == nil {
		return nil, nil
	}
	last := run.Entries[len(run.Entries)-1]
	for _, entry := range run.Entries {
		if entry.Kind == journal.Closed {
			last = entry
		}
	}
	var verdict journal.Verdict
	if last.Kind == journal.Closed {
		if err := json.Unmarshal(last.Data, &verdict); err != nil {
			return nil, fmt.Errorf("entry %d: %w", last.Seq, err)
		}
	}
	var found []Finding
	for _, b := range d.claiming() {
		parts, starts := sentences(b.text)
		for i, sentence := range parts {
			if !strings.Contains(sentence, run.Header.Run) {
				continue
			}
			said := outcomeIn(sentence)
			if said == "" || said == verdict.Outcome || verdict.Outcome == "" {
				continue
			}
			line := b.line + strings.Count(b.text[:starts[i]], "\n")
			f := d.finding(ContradictsJournal, []int{line}, "said to be %s; by its journal run %s is %s", said,
				run.Header.Run, verdict.Outcome)
			f.Quotes = append(f.Quotes, quoteEntry(run, last))
			found = append(found, f)
		}
	}
	return found, nil
}

func outcomeIn(sentence string) runbook.Outcome {
	for _, outcome := range []runbook.Outcome{runbook.Remediated, runbook.Failed, runbook.Deferred, runbook.RolledOut} {
		for word := range strings.FieldsSeq(strings.ToLower(sentence)) {
			if strings.Trim(word, ".,;:()") == string(outcome) {
				return outcome
			}
		}
	}
	return ""
}
