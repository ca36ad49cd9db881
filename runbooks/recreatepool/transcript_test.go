package recreatepool_test

import (
	"fmt"
	"time"

	"salve/engine"
)

// describe puts an event into a line of a transcript.
func describe(event engine.Event, began time.Time) string {
	line := fmt.Sprintf("%7s %s %s", event.At.Sub(began).Round(time.Second), event.Kind, event.Step)
	switch {
	case event.Finding != nil:
		line += fmt.Sprintf(" %s %s: %s", event.Finding.Guard, event.Finding.Answer, event.Finding.Reason)
	case event.Result != nil:
		line += fmt.Sprintf(" attempt %d %s %s", event.Attempt, event.Result.Result, event.Result.Reason)
	case event.Progress != nil:
		line += fmt.Sprintf(" %s %q", event.Progress.Text, event.Progress.Details)
	case event.Verdict != nil:
		line += fmt.Sprintf(" %s: %s", event.Verdict.Outcome, event.Verdict.Reason)
	default:
		line += " " + event.Text
	}
	return line
}
