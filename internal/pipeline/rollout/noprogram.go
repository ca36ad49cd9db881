package rollout

import (
	"fmt"
	"strings"

	"salve/engine"
	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

// NoProgramError says that nothing runs the actions of steps.
type NoProgramError struct{ Steps []*pipeline.Step }

// Error names the steps of each action, and says once what to do about them.
func (e *NoProgramError) Error() string {
	var actions []string
	steps := map[string][]string{}
	for _, step := range e.Steps {
		action := diagnostic.Printable(step.Action.Value)
		if steps[action] == nil {
			actions = append(actions, action)
		}
		steps[action] = append(steps[action], fmt.Sprintf("%s (%s)", step.ID(), step.Action.At))
	}
	const shown = 5
	var lists []string
	for _, action := range actions {
		of := steps[action]
		if more := len(of) - shown; more > 0 {
			of = append(of[:shown:shown], fmt.Sprintf("and %d more", more))
		}
		lists = append(lists, action+": "+diagnostic.Bounded(strings.Join(of, ", ")))
	}
	what, one := "actions of these steps", "ACTION"
	if len(actions) == 1 {
		what, one = "action of these steps", actions[0]
	}
	return fmt.Sprintf("no program runs the %s: %s. hint: a program salve-action-%s in the pipeline's folder or on PATH, "+
		"or --action %s=PROGRAM, runs them; --skip-actions %s skips them", what, strings.Join(lists, "; "), one, one,
		strings.Join(actions, ","))
}

// Unwrap says that what was asked for can't be run.
func (e *NoProgramError) Unwrap() error { return &engine.InvalidError{Reason: e.Error()} }
