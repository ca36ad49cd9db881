package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/redact"
	"salve/internal/report"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
)

// The exit codes.
const (
	exitDecided        = 0
	exitFailed         = 1
	exitUsage          = 2
	exitUndecided      = 3
	exitNeedsAttention = 4
	// exitWouldAct is that of check and plan with --detailed-exitcode, as terraform plan has it; no usage is wrong then.
	exitWouldAct = 2
)

// exitOf is the exit code of an outcome; that of a plan or a check which would
// act is empty.
func exitOf(outcome runbook.Outcome) int {
	switch outcome {
	case "", runbook.Remediated, runbook.RolledOut, runbook.NothingToDo, runbook.Deferred:
		return exitDecided
	case runbook.Failed:
		return exitFailed
	case runbook.Undecided:
		return exitUndecided
	default:
		return exitNeedsAttention
	}
}

// exitOf is the exit code of a result. Where it was asked for, that of a check or a plan tells that a run would act.
func (a *app) exitOf(asked verb, result engine.Result) int {
	if a.detailedExit && asked != act && (result.Outcome == "" || result.Open) && exitOf(result.Outcome) == exitDecided {
		return exitWouldAct
	}
	return exitOf(result.Outcome)
}

// usage makes the error of an invalid command.
func usage(format string, args ...any) error {
	return &engine.InvalidError{Reason: fmt.Sprintf(format, args...)}
}

// attentionError marks an error that an operator has to look at.
type attentionError struct{ err error }

func (e *attentionError) Error() string { return e.err.Error() }
func (e *attentionError) Unwrap() error { return e.err }

// unseenError marks an error that says that something could not be seen.
type unseenError struct{ err error }

func (e *unseenError) Error() string { return e.err.Error() }
func (e *unseenError) Unwrap() error { return e.err }

// fail prints an error as one line and gives its exit code.
func (a *app) fail(err error) int {
	code, advice := a.classify(err)
	if a.detailedExit && code == exitUsage {
		code = exitFailed
	}
	if a.began { // then it is no wrong usage, and what is known already stays known
		if code == exitUsage {
			code = exitFailed
		}
		code = max(code, a.exit)
	}
	line := a.ownCommands(a.tellPresets(a.named(err) + advice))
	if a.json() && !a.answered {
		// Whoever reads JSON gets a document in any case; when not even that can be
		// written, the line below still tells.
		_ = a.document(report.Failure{Document: report.NewDocument("error"), Exit: code, Says: line})
	}
	fmt.Fprintf(a.stderr, "%s: %s\n", a.name(), redact.Redact([]byte(line)))
	return code
}

// named is an error as one line that holds the term which people search for.
func (a *app) named(err error) string {
	line := a.worded(err)
	lower := strings.ToLower(line)
	term, hint := "", ""
	switch class := apierr.ClassOf(err); {
	case errors.Is(err, context.DeadlineExceeded):
		term = "timed out"
	case class == apierr.Denied && strings.Contains(lower, "unauthorized"): // it is the term already
	case class == apierr.Denied:
		term, hint = "forbidden", a.needs.Files()
	case class == apierr.Missing:
		term = "not found"
	case class == apierr.Throttled:
		term, hint = "throttled", "run the same command again in a minute"
	}
	if !strings.Contains(lower, term) {
		line = term + ": " + line
	}
	if hint != "" && !strings.Contains(lower, "hint:") {
		line += ". hint: " + hint
	}
	return line
}

// worded is an error as one line. What a cluster forbids is explained by the role that the command needs.
func (a *app) worded(err error) string {
	line := oneLine(err.Error())
	for _, forbidden := range forbiddenIn(err) {
		line = strings.ReplaceAll(line, oneLine(forbidden.Error()), oneLine(forbidden.For(a.needs)))
	}
	return line
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// forbiddenIn are the refusals in an error, of which several may be joined.
func forbiddenIn(err error) []*kube.ForbiddenError {
	switch within := err.(type) { //nolint:errorlint // the tree is walked here
	case *kube.ForbiddenError:
		return []*kube.ForbiddenError{within}
	case interface{ Unwrap() []error }:
		var found []*kube.ForbiddenError
		for _, one := range within.Unwrap() {
			found = append(found, forbiddenIn(one)...)
		}
		return found
	case interface{ Unwrap() error }:
		return forbiddenIn(within.Unwrap())
	}
	return nil
}

// classify gives an error's exit code, and what to do about it.
func (a *app) classify(err error) (code int, advice string) {
	var wrong *engine.InvalidError
	var held *journal.HeldError
	var broken *journal.BrokenError
	var missing *journal.MissingError
	var concerning *attentionError
	var away *journal.ElsewhereError
	var unsealed *journal.UnsealedError
	var absent *journal.LostRecordError
	var headless *journal.HeadError
	var unseen *unseenError
	var crashed *crashError
	switch {
	case errors.As(err, &crashed):
		return exitNeedsAttention, ". What was done until then is in the journal. hint: salve runs list"
	case errors.As(err, &unseen):
		return exitUndecided, ""
	case errors.As(err, &away):
		return exitNeedsAttention, ". hint: salve runs import brings it back; " +
			shell([]string{a.name(), "runs", "abandon", away.Open.Run, "--target", away.Open.Target, "--reason", "TEXT"}) +
			" closes it here"
	case errors.As(err, &broken):
		return exitNeedsAttention, ""
	case errors.As(err, &unsealed), errors.As(err, &absent), errors.As(err, &headless):
		return exitNeedsAttention, ""
	case errors.As(err, &held):
		return exitFailed, ". hint: --wait-for-lease 10m waits for it"
	case errors.As(err, &missing):
		return exitUsage, ". hint: salve runs list"
	case errors.As(err, &wrong), !a.understood:
		return exitUsage, ""
	case errors.As(err, &concerning):
		return exitNeedsAttention, ""
	case errors.Is(err, engine.ErrInterrupted) && !a.began:
		return exitFailed, ": nothing was changed"
	}
	return exitFailed, ""
}
