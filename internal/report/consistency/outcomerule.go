package consistency

import (
	"encoding/json"
	"fmt"
	"strings"

	"salve/internal/lazyregexp"
	"salve/journal"
	"salve/runbook"
)

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
			said := outcomeOf(run.Header.Run, sentence)
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

var (
	ofPart   = lazyregexp.New(`(?i)\b(?:steps?|guards?|attempts?|writes?|requests?)\b`)
	byRun    = lazyregexp.New(`(?i)^\W*(?:by|in|with|through) (?:the )?(?:run )?\W*$`)
	outcomes = []runbook.Outcome{runbook.Remediated, runbook.Failed, //nolint:gochecknoglobals // a table
		runbook.Deferred, runbook.RolledOut}
)

// outcomeOf is the outcome that a sentence says the run had: after its name, and not of one of its parts, or right
// before "by run". A run that is cited as a source isn't told of.
func outcomeOf(run, sentence string) runbook.Outcome {
	for _, outcome := range outcomes {
		for _, at := range mentionsOf(strings.ToLower(sentence), string(outcome)) {
			end := at + len(outcome)
			for _, name := range mentionsOf(sentence, run) {
				if strings.HasPrefix(sentence[name+len(run):], "#") {
					continue
				}
				if name < at && !ofPart.MatchString(sentence[name:at]) || name >= end && byRun.MatchString(sentence[end:name]) {
					return outcome
				}
			}
		}
	}
	return ""
}
