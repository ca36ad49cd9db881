package report

import (
	"fmt"
	"io"

	"salve/internal/triage/replay"
)

// shownAlike is how many groups are listed of those that come to the same.
const shownAlike = 8

// TriageReplayed writes what the replay of a triage came to: which verdicts are the same, and of each other one the
// threshold and the first rule that make the difference.
func TriageReplayed(out io.Writer, width int, result replay.Result) error {
	s := &textWriter{width: width}
	s.line("Triage of build %s", result.Build)
	s.hang("  ", "made "+moment(result.Created))
	s.hang("  ", fmt.Sprintf("recorded by %s; replayed by %s", result.Recorded, result.Now))
	switch {
	case result.Verdict == replay.Void:
		s.hang("  ", "self-check: FAILED; no replay by this program means anything")
	case result.Checked:
		s.hang("  ", "self-check: with the recorded thresholds this program decides as it did, byte for byte")
	default:
		s.hang("  ", "self-check: not possible, "+result.Unchecked)
	}
	for _, reason := range result.LeftOut {
		s.hang("  ", reason)
	}
	for _, change := range result.Thresholds {
		s.hang("  threshold ", fmt.Sprintf("%s: %s → %s", change.Name, change.Old, change.New))
	}
	s.line("")
	if result.Verdict != replay.Void {
		s.triageRun(result.Run)
		s.triageGroups(result.Groups)
		s.line("")
	}
	s.hang("", TriageVerdict(result))
	return s.flush(out)
}

func (s *textWriter) triageRun(run replay.Run) {
	switch run.State {
	case replay.Unreplayable:
		s.hang("  ? the run  ",
			fmt.Sprintf("%s → unreplayable: the record does not have %s", run.Recorded.Verdict, run.Lacks))
	case replay.Diverged:
		s.hang("  ≠ the run  ", fmt.Sprintf("%s → %s", run.Recorded.Verdict, run.Now.Verdict))
	default:
		s.hang("  = the run  ", string(run.Recorded.Verdict))
	}
}

// triageGroups lists what is not the same first, and of many groups that come to the same some.
func (s *textWriter) triageGroups(groups []replay.Group) {
	for _, state := range []replay.State{replay.Diverged, replay.Unreplayable, replay.Reworded, replay.Same} {
		shown := 0
		for _, g := range groups {
			if g.State != state {
				continue
			}
			if shown++; shown <= shownAlike {
				s.triageGroup(g)
			}
		}
		if more := shown - shownAlike; more > 0 {
			s.line("    %s more: %s", Count(more, "group", "groups"), state)
		}
	}
}

func (s *textWriter) triageGroup(g replay.Group) {
	name := fmt.Sprintf("%s (%s)", shorten(flat(g.Message), 60), Count(g.Failures, "failure", "failures"))
	lead := "  = " + g.Key + "  "
	switch g.State {
	case replay.Unreplayable:
		s.hang("  ? "+g.Key+"  ", fmt.Sprintf("%s → unreplayable: the record does not have %s; %s", triageWords(g.Recorded),
			g.Lacks, name))
		return
	case replay.Diverged:
		s.hang("  ≠ "+g.Key+"  ", fmt.Sprintf("%s → %s; %s", triageWords(g.Recorded), triageWords(g.Now), name))
	case replay.Reworded:
		s.hang("  ~ "+g.Key+"  ", fmt.Sprintf("%s, as recorded; %s", triageWords(g.Recorded), name))
	default:
		s.hang(lead, fmt.Sprintf("%s; %s", triageWords(g.Recorded), name))
		return
	}
	if g.First != nil {
		s.hang("        first different: ", g.First.String())
	}
	if g.Because != nil {
		s.hang("        because of ", fmt.Sprintf("%s: %s → %s", g.Because.Name, g.Because.Old, g.Because.New))
	}
}

func triageWords(b *replay.Brief) string {
	if b == nil {
		return "no group of its own"
	}
	return string(b.Verdict)
}

// TriageVerdict is what the replay of a triage came to, in a sentence.
func TriageVerdict(result replay.Result) string {
	switch result.Verdict {
	case replay.Same:
		return fmt.Sprintf("Same: the run and %s, each with the verdict as recorded.",
			Count(len(result.Groups), "group", "groups"))
	case replay.Diverged:
		return fmt.Sprintf("Diverged: %s.", result.Reason)
	case replay.Unreplayable:
		return fmt.Sprintf("Unreplayable: %s.", result.Reason)
	default:
		return fmt.Sprintf("Void: %s.", result.Reason)
	}
}
