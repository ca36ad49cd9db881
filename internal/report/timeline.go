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

// Timeline writes what happened in a run: when, which step, how long it took, how
// it ended. It is made from the journal alone.
func Timeline(out io.Writer, width int, history *journal.History) error {
	moments, err := Moments(history)
	if err != nil {
		return err
	}
	s := &textWriter{width: width}
	s.heading(history)
	s.line("")
	var names, offsets []string
	for _, m := range moments {
		names, offsets = append(names, m.What), append(offsets, offset(seconds(m.After)))
	}
	name, time := widest(0, names...), widest(0, offsets...)
	returned := false
	for i, m := range moments {
		if m.Irreversible && !returned {
			s.paint(Doubtful, noReturn)
			s.line("  ── the point of no return ──")
			returned = true
		}
		lead := fmt.Sprintf("  %*s  %s %s  ", time, offsets[i], sign(m), pad(m.What, name))
		s.paint(signTone(m), sign(m))
		s.hang(lead, says(m, moments[:i]))
	}
	return s.flush(out)
}

// heading says which run it is.
func (s *textWriter) heading(history *journal.History) {
	header := history.Header
	first, last := history.Entries[0].At, history.Entries[len(history.Entries)-1].At
	s.paint(Strong, "Run "+header.Run)
	s.line("Run %s", header.Run)
	s.hang("  ", fmt.Sprintf("%s (version %s) on %s %s", header.Runbook, header.Version, header.Target.Kind,
		header.Target.Name))
	s.paint(verdictTone(history), standing(history))
	s.hang("  ", fmt.Sprintf("%s, %s, %s", moment(first), span(last.Sub(first)), standing(history)))
}

// standing says whether a run is closed, parked or open.
func standing(history *journal.History) string { return StandingOf(history).String() }

// sign is a line's result in one character.
func sign(m Moment) string {
	switch m.Result {
	case journal.Done:
		return "✓"
	case journal.Failure:
		return "✗"
	case journal.Unknown:
		return "?"
	case journal.Skipped:
		return "–"
	}
	switch m.What {
	case "warning", "interrupted", "parked":
		return "!"
	default:
		return " "
	}
}

// says is a line's text, without the reason that an earlier line gave.
func says(m Moment, earlier []Moment) string {
	text := m.Text
	for _, before := range earlier {
		if before.reason != "" && len(before.reason) > len(asAbove) && strings.HasSuffix(m.reason, before.reason) {
			text = strings.Replace(text, before.reason, asAbove, 1)
			break
		}
	}
	var parts []string
	if m.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", m.Attempt))
	}
	if m.Result != "" && m.Took > 0 {
		parts = append(parts, span(seconds(m.Took)))
	}
	if text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

const asAbove = "(as above)"

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Checks writes the table of the final checks, as they were asked last; nothing
// when the run did not come so far.
func Checks(out io.Writer, width int, history *journal.History) error {
	evaluation, found, err := lastChecks(history)
	if err != nil || !found {
		return err
	}
	s := &textWriter{width: width}
	s.line("Final checks, on freshly observed state:")
	s.findings("", withoutProof(evaluation.Findings), shownValue)
	return s.flush(out)
}

// withoutProof leaves out the evidence of what holds: that it holds is enough
// here, and an explanation has all of it.
func withoutProof(findings []runbook.Finding) []runbook.Finding {
	short := slices.Clone(findings)
	for i := range short {
		if short[i].Answer == runbook.AnswerHolds {
			short[i].Evidence = nil
		}
	}
	return short
}

// Checked tells whether the final checks were asked.
func Checked(history *journal.History) bool {
	_, found, err := lastChecks(history)
	return found && err == nil
}

func lastChecks(history *journal.History) (last journal.Evaluation, found bool, err error) {
	for _, entry := range history.Entries {
		if entry.Kind != journal.Evaluated {
			continue
		}
		err := with(entry, func(evaluation journal.Evaluation) {
			if evaluation.For == "checks" {
				last, found = evaluation, true
			}
		})
		if err != nil {
			return last, found, err
		}
	}
	return last, found, nil
}
