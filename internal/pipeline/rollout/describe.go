package rollout

import (
	"fmt"
	"path/filepath"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

// changes is what a plan says that a step changes: its action, what that executes, and what it takes of other steps.
// Secrets are masked.
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
	return diagnostic.Printable(diagnostic.Bounded(mask(text, p.secrets.texts)))
}

// Outline is what is known of a step before any begins.
type Outline struct {
	Changes string         `json:"changes"`
	With    map[string]any `json:"with,omitempty"`
}

// Outline is what is known of a plan's steps before any begins, by their names, secrets masked. What others will hand
// on is empty.
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

// detailOf is what a step's action executes, in a few words; empty where the step's inputs say it all. Of a command it
// is where that stands: records hold no commands, in which anything may be a secret.
func detailOf(step *pipeline.Step) string {
	switch {
	case step.Shell != nil:
		return fmt.Sprintf("line %d of %s", step.Shell.Command.At.Line, filepath.Base(step.Shell.Command.At.File))
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
