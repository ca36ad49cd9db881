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

// Decision is one judgement of a run, and the same decision made again from the
// journal.
type Decision struct {
	At        time.Time          `json:"at"`
	After     float64            `json:"afterSeconds"`
	Judgement journal.Evaluation `json:"judgement"`
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
		err := with(entry, func(judgement journal.Evaluation) {
			posture := history.Header.Posture
			if judgement.For == "checks" {
				posture = runbook.FailClosed // a check that can't see never passes
			}
			again := engine.Decide(posture, judgement.Findings)
			decisions = append(decisions, Decision{
				At: entry.At, After: entry.At.Sub(history.Entries[0].At).Seconds(),
				Judgement: judgement, Again: again, Same: again == judgement.Decision,
			})
		})
		if err != nil {
			return nil, fmt.Errorf("entry %d of the journal: %w", entry.Seq, err)
		}
	}
	return decisions, nil
}

// Explain writes why a run acted or not: each judgement with what was asked, what
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
	s.line("%s  %s", offset(seconds(d.After)), asked(d.Judgement))
	s.findings("  ", d.Judgement.Findings, 0)
	if len(d.Judgement.Missing) > 0 {
		s.hang("    not asked any more: ", strings.Join(d.Judgement.Missing, ", "))
	}
	s.hang("  decided: ", decided(d.Judgement, d.Judgement.Decision))
	if !d.Same {
		s.line("  !! DIFFERENT when it is decided again from the record:")
		s.hang("  !! ", decided(d.Judgement, d.Again))
	}
}

func asked(judgement journal.Evaluation) string {
	switch step, found := strings.CutPrefix(judgement.For, "step "); {
	case found:
		return "before step " + step
	case judgement.For == "checks":
		return "final checks"
	default:
		return "guards at the " + judgement.For
	}
}

func decided(judgement journal.Evaluation, verdict journal.Verdict) string {
	switch {
	case verdict.Outcome == "" && judgement.For == "checks":
		return "remediated"
	case verdict.Outcome == "":
		return "go on"
	}
	return string(verdict.Outcome) + ", because " + verdict.Reason
}

func (s *textWriter) verdicts(history *journal.History) {
	switch {
	case history.Closed != nil:
		s.hang("Closed ", verdictText(*history.Closed))
	case history.Parked != nil:
		s.hang("Open, parked ", verdictText(*history.Parked))
	default:
		s.line("Open: the journal holds no verdict yet.")
	}
}
