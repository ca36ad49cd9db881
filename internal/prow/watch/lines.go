package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"salve/internal/diagnostic"
	"salve/internal/prow/finding"
)

// Lines tells a line of text for each change.
type Lines struct{ Out io.Writer }

// Tell writes the changes. Rules that lack the same input and are as bad share a line.
func (l Lines) Tell(_ context.Context, report Report) error {
	at := report.At.UTC().Format(time.RFC3339)
	var failed error
	line := func(what string, severity finding.Severity, rule, says string) {
		text := fmt.Sprintf("%s  %-6s  %-7s  %s  %s", at, what, severity, rule, says)
		if _, err := fmt.Fprintln(l.Out, strings.TrimRight(diagnostic.Printable(text), " ")); err != nil {
			failed = fmt.Errorf("writing a line: %w", err)
		}
	}
	said := map[string]bool{}
	for _, change := range report.Changes {
		switch change.What {
		case Blinded, Sighted:
			verdict := change.Verdict
			if together := fmt.Sprint(change.What, verdict.Severity, verdict.Reason); !said[together] {
				said[together] = true
				line(change.What, verdict.Severity, rulesWith(report.Changes, change), verdict.Reason)
			}
		default:
			line(change.What, change.Finding.Severity, change.Finding.Rule, inOneLine(change))
		}
	}
	return failed
}

// rulesWith are the rules that changed for the same reason and are as bad.
func rulesWith(changes []Change, like Change) string {
	var rules []string
	for _, change := range changes {
		if change.What == like.What && change.Verdict.Severity == like.Verdict.Severity &&
			change.Verdict.Reason == like.Verdict.Reason {
			rules = append(rules, change.Verdict.Rule)
		}
	}
	return strings.Join(slices.Compact(rules), ", ")
}

func inOneLine(change Change) string {
	f := change.Finding
	text := f.Message
	if subject := f.Subject.String(); subject != "" {
		text = subject + ": " + text
	}
	if change.Was != "" && change.What != Cleared {
		text += fmt.Sprintf(" (was %s)", change.Was)
	}
	if f.Mend != "" && (change.What == Appeared || change.What == Worsened) {
		text += ". hint: " + f.Mend
	}
	return text
}

// JSON tells a JSON document on a line for each change.
type JSON struct{ Out io.Writer }

// line is one change as a document. A field is left out where it means nothing.
type line struct {
	Time     time.Time        `json:"time"`
	Change   string           `json:"change"`
	Was      finding.Severity `json:"was,omitempty"`
	Finding  *finding.Finding `json:"finding,omitempty"`
	Rule     string           `json:"rule"`
	Severity finding.Severity `json:"severity"`
	Reason   string           `json:"reason,omitempty"`
	NotGiven bool             `json:"notGiven,omitempty"`
}

// Tell writes the changes.
func (j JSON) Tell(_ context.Context, report Report) error {
	encoder := json.NewEncoder(j.Out)
	for _, change := range report.Changes {
		document := line{Time: report.At.UTC(), Change: change.What, Was: change.Was, Rule: change.Verdict.Rule,
			Severity: change.Verdict.Severity, Reason: diagnostic.Printable(change.Verdict.Reason),
			NotGiven: change.Verdict.NotGiven}
		if change.What != Blinded && change.What != Sighted {
			printable := finding.List{change.Finding}.Printable()[0]
			document.Finding, document.Rule, document.Severity = &printable, printable.Rule, printable.Severity
		}
		if err := encoder.Encode(document); err != nil {
			return fmt.Errorf("writing a line: %w", err)
		}
	}
	return nil
}
