package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// Decision is one evaluation of a run, and the same decision made again from the
// journal.
type Decision struct {
	At         time.Time          `json:"at"`
	After      float64            `json:"afterSeconds"`
	Evaluation journal.Evaluation `json:"evaluation"`
	// Again is what engine.Decide says of the findings now.
	Again journal.Verdict `json:"again"`
	// Same tells whether both are equal.
	Same bool `json:"same"`
}

// Decisions makes every decision of a run again, from the journal alone.
func Decisions(history *journal.History) ([]Decision, error) {
	var decisions []Decision
	for _, entry := range history.Entries {
		if entry.Kind != journal.Evaluated {
			continue
		}
		err := with(entry, func(evaluation journal.Evaluation) {
			posture := history.Header.Posture
			if evaluation.For == "checks" {
				posture = runbook.FailClosed // a check that can't see never passes
			}
			again := engine.Decide(posture, evaluation.Findings)
			decisions = append(decisions, Decision{
				At: entry.At, After: entry.At.Sub(history.Entries[0].At).Seconds(),
				Evaluation: evaluation, Again: again, Same: again == evaluation.Decision,
			})
		})
		if err != nil {
			return nil, fmt.Errorf("entry %d of the journal: %w", entry.Seq, err)
		}
	}
	return decisions, nil
}

// Explain writes why a run acted or not: each evaluation with what was asked, what
// was found on which evidence, what was decided, and whether the decision comes
// out the same when it is made again. It gives back how many do not.
func Explain(out io.Writer, width int, history *journal.History) (different int, err error) {
	decisions, err := Decisions(history)
	if err != nil {
		return 0, err
	}
	s := &textWriter{width: width}
	s.heading(history)
	for _, guard := range slices.Sorted(maps.Keys(history.Header.Overrides)) {
		s.hang("  override of "+guard+": ", history.Header.Overrides[guard])
	}
	for _, decision := range decisions {
		s.decision(decision)
		if !decision.Same {
			different++
		}
	}
	s.line("")
	s.verdicts(history)
	return different, s.flush(out)
}

func (s *textWriter) decision(d Decision) {
	s.line("")
	s.line("%s  %s", offset(seconds(d.After)), asked(d.Evaluation))
	s.findings("  ", d.Evaluation.Findings, 0)
	if len(d.Evaluation.Missing) > 0 {
		s.hang("    not asked any more: ", strings.Join(d.Evaluation.Missing, ", "))
	}
	s.hang("  decided: ", decided(d.Evaluation, d.Evaluation.Decision))
	if !d.Same {
		s.paint(Bad, differs)
		s.line("  !! DIFFERENT when it is decided again from the record:")
		s.hang("  !! ", decided(d.Evaluation, d.Again))
	}
}

func asked(evaluation journal.Evaluation) string {
	switch step, found := strings.CutPrefix(evaluation.For, "step "); {
	case found:
		return "before step " + step
	case evaluation.For == "checks":
		return "final checks"
	default:
		return "guards at the " + evaluation.For
	}
}

func decided(evaluation journal.Evaluation, verdict journal.Verdict) string {
	switch {
	case verdict.Outcome == "" && evaluation.For == "checks":
		return "remediated"
	case verdict.Outcome == "":
		return "go on"
	}
	return string(verdict.Outcome) + ", because " + verdict.Reason
}

// differs is what begins a line about a decision that comes out otherwise.
const differs = "!! DIFFERENT"

func (s *textWriter) verdicts(history *journal.History) {
	switch {
	case history.Closed != nil:
		s.paint(verdictTone(history), string(history.Closed.Outcome))
		s.hang("Closed ", verdictText(*history.Closed))
	case history.Parked != nil:
		s.paint(Doubtful, "Open, parked")
		s.hang("Open, parked ", verdictText(*history.Parked))
	default:
		s.line("Open: the journal holds no verdict yet.")
	}
}
