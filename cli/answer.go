package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"salve/engine"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// answer prints the results of an invocation and sets the exit code. An error that
// ended the invocation is given back, to be printed after what is known.
func (e *invocation) answer(ctx context.Context, results []engine.Result, failure error) error {
	if len(results) == 0 {
		return failure
	}
	results = e.app.ownHints(results)
	for _, result := range results {
		e.app.exit = max(e.app.exit, e.app.exitOf(e.verb, result))
		e.app.began = e.app.began || e.verb == act && result.Run != ""
	}
	if failure != nil && e.app.exit == exitNeedsAttention {
		failure = &attentionError{failure}
	}
	parts := make([]report.Result, 0, len(results))
	for _, result := range results {
		part, err := e.part(ctx, result)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	says := e.says(results)
	if e.app.json() {
		document := report.Results{Document: report.NewDocument(e.kind()), Exit: e.app.exit, Says: says, Runs: parts}
		if e.scenario != "" {
			document.Scenario, document.Journal = e.scenario, e.journal.Where
		}
		if err := e.app.document(document); err != nil {
			return err
		}
		e.watch.say(says)
		return failure
	}
	if e.app.progress() != logged && terminal(e.app.stderr) != nil && e.verb == act {
		fmt.Fprintln(e.app.stderr) // apart from what was drawn
	}
	for _, result := range results {
		if len(results) > 1 && e.verb != act {
			fmt.Fprintf(e.app.stdout, "%s %s\n\n", result.Target.Kind, result.Target.Name)
		}
		if err := e.show(ctx, result); err != nil {
			return err
		}
	}
	if e.scenario != "" && results[len(results)-1].Open {
		fmt.Fprintf(e.app.stdout, "The rehearsal's Azure ended with it: this run can't be resumed, as a real one would be. "+
			"To rehearse it again: %s\n", e.app.command())
	}
	return errors.Join(report.Conclude(e.app.stdout, says, results[len(results)-1]), failure)
}

// ownHints has the hints of results name this program. Records keep them as they were written.
func (a *app) ownHints(results []engine.Result) []engine.Result {
	own := slices.Clone(results)
	for i := range own {
		own[i].Reason, own[i].Question = a.ownCommands(own[i].Reason), a.ownCommands(own[i].Question)
		own[i].Warnings = slices.Clone(own[i].Warnings)
		for j, warning := range own[i].Warnings {
			own[i].Warnings[j] = a.ownCommands(warning)
		}
		own[i].Findings = slices.Clone(own[i].Findings)
		for j, finding := range own[i].Findings {
			own[i].Findings[j].Reason = a.ownCommands(finding.Reason)
		}
	}
	return own
}

func (e *invocation) kind() string {
	if e.scenario != "" {
		return "rehearsal"
	}
	return string(e.verb)
}

// part is a result as a part of a JSON document.
func (e *invocation) part(ctx context.Context, result engine.Result) (report.Result, error) {
	part := report.Result{Result: result, Next: report.Command(result, e.next(result))}
	if e.verb != act {
		acts := result.Outcome == "" || result.Open
		part.Acts = &acts
		return part, nil
	}
	if result.Run == "" {
		return part, nil
	}
	record, err := journal.Load(ctx, e.journal, result.Run)
	if err != nil {
		part.Warnings = append(part.Warnings, unreadable(result, err))
		return part, nil // the answer must be told, above all where its record is lost
	}
	story, err := report.NewStory(record.History)
	part.Timeline, part.Checks = story.Timeline, story.Checks
	return part, err
}

// show prints a result as tables: the story of a run that changed something or
// was rehearsed, otherwise what was found.
func (e *invocation) show(ctx context.Context, result engine.Result) error {
	out, width := e.app.stdout, e.app.width()
	findings := result.Findings
	if result.Run != "" && e.verb == act {
		record, err := journal.Load(ctx, e.journal, result.Run)
		switch {
		case err != nil:
			result.Warnings = append(slices.Clone(result.Warnings), unreadable(result, err))
		case e.scenario != "" || record.Changed():
			return errors.Join(showStory(e.app, e.app.told(record.History)), showUnrecorded(e.app, result))
		default:
			if findings, err = report.Asked(record.History); err != nil {
				return err
			}
		}
	}
	if len(findings) > 0 {
		if err := report.Findings(out, width, findings); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	if result.Plan != nil && e.verb == plan {
		if err := report.Plan(out, width, *result.Plan); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	for _, warning := range result.Warnings {
		fmt.Fprintln(out, "Warning:", warning)
	}
	if result.Question != "" {
		fmt.Fprintln(out, "Question:", result.Question)
	}
	return showUnrecorded(e.app, result)
}

// unreadable says that the record of a run that was just made can't be read.
func unreadable(result engine.Result, err error) string {
	return fmt.Sprintf("the record of run %q can't be read: %v", result.Run, err)
}

// showUnrecorded prints what only this process still knows of a run whose record is lost, such as the definition of
// what was deleted: it is gone when the process ends.
func showUnrecorded(a *app, result engine.Result) error {
	if !result.Unrecorded || len(result.Notes) == 0 {
		return nil
	}
	fmt.Fprintf(a.stdout, "\nWhat the run %s noted, which its record may have lost. Keep it:\n\n", result.Run)
	return report.JSON(a.stdout, result.Notes)
}

// showStory prints a run's timeline and its checks.
func showStory(a *app, history *journal.History) error {
	if err := report.Timeline(a.stdout, a.width(), history); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	if len(history.Entries) == 0 || !report.Checked(history) {
		return nil
	}
	if err := report.Checks(a.stdout, a.width(), history); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	return nil
}

// says is the last line.
func (e *invocation) says(results []engine.Result) string {
	last := results[len(results)-1]
	if len(results) == 1 {
		return report.LastLine(last, e.next(last))
	}
	var each []string
	for _, result := range results {
		outcome := result.Outcome
		if outcome == "" {
			outcome = "would act"
		}
		each = append(each, fmt.Sprintf("%s %s", result.Target.Name, outcome))
	}
	line := fmt.Sprintf("%d pools, one after the other: %s.", len(results), strings.Join(each, ", "))
	switch last.Outcome {
	case "", runbook.Remediated, runbook.NothingToDo:
		return line + report.Advice(last, e.next(last))
	default:
		return line + " " + report.LastLine(last, e.next(last))
	}
}
