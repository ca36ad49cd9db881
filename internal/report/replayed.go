package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"salve/internal/report/replay"
)

// Replays is the document of runs whose decisions were made again.
type Replays struct {
	Document
	replay.Suite
}

// Replayed writes what the replay of a run came to: which decisions are the same, the first that is not and why, and
// what after it is conditional.
func Replayed(out io.Writer, width int, result replay.Result) error {
	s := &textWriter{width: width}
	s.line("Run %s", result.Run)
	s.hang("  ", fmt.Sprintf("%s on %s %s", result.Runbook, result.Target.Kind, result.Target.Name))
	s.hang("  ", "recorded by "+versions(result.Recorded)+"; replayed by "+versions(result.Now))
	switch {
	case result.Verdict == replay.Void:
		s.hang("  ", "self-check: FAILED; nothing below means anything")
	case result.Checked:
		s.hang("  ", "self-check: with the recorded inputs this program decides as it did, byte for byte")
	default:
		s.hang("  ", "self-check: not possible, the record is of another program")
	}
	for _, remark := range result.Remarks {
		s.hang("  remark: ", remark)
	}
	for _, change := range result.Inputs {
		s.hang("  input ", fmt.Sprintf("%s: %s → %s", change.Field, change.Old, change.New))
	}
	s.line("")
	var entries, purposes []string
	for _, decision := range result.Decisions {
		entries, purposes = append(entries, strconv.Itoa(decision.Seq)), append(purposes, decision.For)
	}
	entry, purpose := widest(0, entries...), widest(0, purposes...)
	for i, decision := range result.Decisions {
		lead := fmt.Sprintf("  %*s  %s  ", entry, entries[i], pad(decision.For, purpose))
		s.hang(lead, outcomes(decision))
		s.differing(decision)
	}
	s.line("")
	s.hang("", ReplayVerdict(result))
	return s.flush(out)
}

// versions says which runbook of which program.
func versions(of replay.Versions) string {
	text := "version " + of.Runbook
	if of.Program != "" {
		text += " (" + of.Program + ")"
	}
	return text
}

func outcomes(decision replay.Decision) string {
	text := orGoOn(string(decision.Recorded.Outcome))
	switch {
	case decision.Now == nil:
		text = "recorded: " + text + "; now: unreplayable"
	case decision.Now.Outcome != decision.Recorded.Outcome:
		text = "recorded: " + text + "; now: " + orGoOn(string(decision.Now.Outcome))
	}
	if decision.Conditional {
		text += " (conditional)"
	}
	return text
}

func orGoOn(outcome string) string {
	if outcome == "" {
		return "go on"
	}
	return outcome
}

// differing writes the guards that are not as recorded.
func (s *textWriter) differing(decision replay.Decision) {
	for _, guard := range decision.Guards {
		switch guard.State {
		case replay.Lacking:
			s.hang("      ? "+guard.Name+"  ", "unreplayable: the record does not have "+guard.Lacks)
		case replay.Different:
			s.hang("      ≠ "+guard.Name+"  ", answerOf(guard.Recorded)+" → "+answerOf(guard.Now))
			if guard.Because != nil {
				s.hang("        because of ", fmt.Sprintf("%s: %s → %s", guard.Because.Field, guard.Because.Old,
					guard.Because.New))
			}
		case replay.Equal, replay.Reworded:
		}
	}
}

func answerOf(found *replay.Finding) string {
	if found == nil {
		return "not asked"
	}
	return strings.TrimSpace(fmt.Sprintf("%s: %s", found.Answer, found.Reason))
}

// ReplayVerdict is what a replay came to, in a sentence.
func ReplayVerdict(result replay.Result) string {
	decisions := Count(len(result.Decisions), "decision", "decisions")
	switch result.Verdict {
	case replay.Same:
		if len(result.Remarks) > 0 {
			return fmt.Sprintf("Same: %s, each as recorded, as far as the record goes: see the remarks.", decisions)
		}
		return fmt.Sprintf("Same: %s, each as recorded.", decisions)
	case replay.Diverged:
		return fmt.Sprintf("Diverged: %s. What is recorded after it belongs to another history.", result.Reason)
	case replay.Unreplayable:
		return fmt.Sprintf("Unreplayable: %s.", result.Reason)
	default:
		return fmt.Sprintf("Void: %s.", result.Reason)
	}
}

// mostPassedOver is how many files are named that were passed over.
const mostPassedOver = 10

// PassedOver names the files of a folder that are no records; empty without any.
func PassedOver(names []string) string {
	if len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf("passed over, as no record: %s", strings.Join(names[:min(len(names), mostPassedOver)], ", "))
	if more := len(names) - mostPassedOver; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ReplaySuite writes a line for each record of a suite, and which guards none of them saw refuse.
func ReplaySuite(out io.Writer, width int, suite *replay.Suite) error {
	s := &textWriter{width: width}
	var names []string
	for _, one := range suite.Cases {
		names = append(names, one.Name)
	}
	column := widest(0, names...)
	for _, one := range suite.Cases {
		text := "✓ " + Count(len(one.Result.Decisions), "decision", "decisions") + " as recorded"
		switch {
		case one.Err != "":
			text = "✗ " + one.Err
		case one.Triage != nil && one.Passed():
			text = "✓ " + Count(len(one.Triage.Groups), "verdict", "verdicts") + " as recorded"
		case one.Triage != nil:
			text = "✗ " + TriageVerdict(*one.Triage)
		case !one.Passed():
			text = "✗ " + ReplayVerdict(one.Result)
		}
		s.hang("  "+pad(one.Name, column)+"  ", text)
		for _, remark := range one.Result.Remarks {
			s.hang("  "+pad("", column)+"    remark: ", remark)
		}
	}
	if passed := PassedOver(suite.PassedOver); passed != "" {
		s.hang("  ", passed)
	}
	for _, one := range suite.Cases {
		name := one.Result.Runbook
		if guards := suite.NeverRefused[name]; len(guards) > 0 {
			s.hang("  warning: ", fmt.Sprintf("no record saw these guards of %s refuse: %s", name, strings.Join(guards, ", ")))
			suite.NeverRefused[name] = nil
		}
	}
	s.line("%d of %s replayed as recorded.", len(suite.Cases)-suite.Failed(), Count(len(suite.Cases), "record", "records"))
	return s.flush(out)
}
