package rollout

import (
	"fmt"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

// longestText bounds what a plan says of one step: a script may be as long as it likes. Its whole content is in the
// digest of the run's inputs.
const longestText = 4000

// changes is what a plan says that a step changes: its action, and what that executes. Secrets are masked.
func (p *Plan) changes(step *pipeline.Step) string {
	text := step.Action.Value
	if detail := detailOf(step); detail != "" {
		text += ": " + detail
	}
	if p.skips(step) {
		text += " (" + skipped + ")"
	}
	for _, variable := range variables(step) {
		if input := variable.Input; input != nil {
			text += fmt.Sprintf("; %s is %s of %s", variable.Name.Value, input.Name.Value, input.ID())
		}
	}
	return diagnostic.Printable(bounded(inOneLine(mask(text, p.secrets.texts))))
}

// Outline is what is known of a step before any begins.
type Outline struct {
	Changes string         `json:"changes"`
	With    map[string]any `json:"with,omitempty"`
}

// Outline is what is known of a plan's steps before any begins, by their names, secrets masked. What others will hand on
// is empty.
func (r *Runner) Outline(plan *Plan) map[string]Outline {
	w, all := newWork(r, plan), map[string]Outline{}
	for _, step := range plan.Steps {
		one := Outline{Changes: plan.changes(step), With: unknown(step)}
		if !w.unexamined(step) {
			one.With = w.known(step)
		}
		all[step.ID().String()] = one
	}
	return all
}

// detailOf is what a step's action executes, in a few words; empty where the step's inputs say it all.
func detailOf(step *pipeline.Step) string {
	switch {
	case step.Shell != nil && step.Shell.WorkingDir.Value != "":
		return step.Shell.Command.Value + " (in " + step.Shell.WorkingDir.Value + ")"
	case step.Shell != nil:
		return step.Shell.Command.Value
	case step.Runbook != nil:
		return step.Runbook.Runbook.Value
	case step.ARM != nil && step.Deploys.BicepParameters():
		return step.ARM.Parameters.Value
	case step.ARM != nil:
		return step.ARM.Template.Value + " with " + step.ARM.Parameters.Value
	case step.Soak != nil:
		return fmt.Sprintf("%s after %s", step.Soak.Duration.Duration, step.Soak.Since.ID())
	}
	return ""
}

// isAction tells whether a planned step, by what its plan says that it changes, had an action.
func isAction(changes, action string) bool {
	rest, found := strings.CutPrefix(changes, action)
	return found && (rest == "" || strings.ContainsAny(rest[:1], ":; "))
}

// inOneLine shows where the lines of a script end: run together it would be another one.
func inOneLine(script string) string {
	return strings.ReplaceAll(strings.TrimSpace(script), "\n", " ⏎ ")
}

func bounded(text string) string {
	all := []rune(text)
	if len(all) <= longestText {
		return text
	}
	return fmt.Sprintf("%s … (%d characters more)", string(all[:longestText]), len(all)-longestText)
}
