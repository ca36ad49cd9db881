package report

import (
	"fmt"
	"strings"

	"salve/engine"
	"salve/internal/redact"
	"salve/journal"
	"salve/runbook"
)

// Next are the commands that a user may type after a run; an empty one makes no
// sense there.
type Next struct {
	// Act does what was only planned or checked, or tries it again.
	Act string
	// Resume goes on with the open run.
	Resume string
	// Rehearse rehearses again what was rehearsed, and can't be resumed.
	Rehearse string
	// Approve approves the plan that the run waits with.
	Approve string
	// Explain shows the run's decisions.
	Explain string
}

// LastLine says in words how a run, a plan or a check ended and, where there is
// something to do, the command to type. It is one line, whatever its length, so
// that the command can be copied.
func LastLine(result engine.Result, next Next) string {
	said := headline(result) + ": " + strings.TrimRight(result.Reason, ".") + "."
	if result.Outcome == "" {
		said = headline(result) + "."
	}
	said = flat(said) + Advice(result, next)
	return string(redact.Redact([]byte(said)))
}

func headline(result engine.Result) string {
	target := result.Target.Name
	switch result.Outcome {
	case "":
		return "All guards pass on " + target + ", a run would act"
	case runbook.Remediated:
		return "Remediated " + target
	case runbook.RolledOut:
		return "Rolled out " + target
	case runbook.NothingToDo:
		return "Nothing to do on " + target
	case runbook.Deferred:
		return "Deferred, " + target + " is left as it is"
	case runbook.Failed:
		return "Failed on " + target
	case runbook.Undecided:
		return "Undecided on " + target
	default:
		return "Needs attention, " + target
	}
}

// Advice is what to do after a result, with the command; it begins with a space,
// and is empty where there is nothing to do.
func Advice(result engine.Result, next Next) string {
	lead, command := suggestion(result, next)
	if command == "" {
		return ""
	}
	return " " + lead + ": " + command
}

// Command is the command to type after a result; empty where there is nothing to
// do.
func Command(result engine.Result, next Next) string {
	_, command := suggestion(result, next)
	return command
}

func suggestion(result engine.Result, next Next) (lead, command string) {
	switch {
	case result.Open && next.Rehearse != "":
		return "It was a rehearsal, and can't be resumed. To rehearse it again", next.Rehearse
	case result.Open && next.Resume != "":
		return "To go on", next.Resume
	case result.Outcome == "":
		return "To act", next.Act
	case result.Outcome == runbook.Deferred:
		return "To try again later", next.Act
	case result.Outcome == runbook.Undecided:
		return "Once it can be seen", next.Act
	case result.Outcome == runbook.Failed, result.Outcome == runbook.NeedsAttention:
		return "To see why", next.Explain
	}
	return "", ""
}

// Stands says how a run in the journal stands and, while it is open, the command
// that goes on with it.
func Stands(history *journal.History, next Next) string {
	result := engine.Result{Run: history.Header.Run, Target: history.Header.Target, Open: history.Closed == nil}
	switch {
	case history.Closed != nil:
		result.Outcome, result.Reason = history.Closed.Outcome, history.Closed.Reason
	case history.Parked != nil:
		result.Outcome, result.Reason = history.Parked.Outcome, history.Parked.Reason
	case history.Asked != nil:
		said := fmt.Sprintf("Open, %s: it waits for the approval of plan %s, or its process died waiting. To approve: %s",
			result.Target.Name, history.Plan.Short(), next.Approve)
		return string(redact.Redact([]byte(said)))
	default:
		said := "Open, " + result.Target.Name + ": a process is still at work on it or died without a word. To go on: " +
			next.Resume
		if next.Rehearse != "" {
			said = "Open, " + result.Target.Name + ": a rehearsal that did not end." + Advice(result, next)
		}
		return string(redact.Redact([]byte(said)))
	}
	return LastLine(result, Next{Resume: next.Resume, Rehearse: next.Rehearse})
}
