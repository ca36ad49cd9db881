package rollout

import (
	"context"
	"fmt"
	"io"
	"strings"

	"slices"

	"salve/internal/diagnostic"
)

// Preview is what is known of a step before anything is run.
type Preview struct {
	Step   string `json:"step"`
	Action string `json:"action"`
	// Variables are its variables, secrets masked. What will be known only later is
	// named in angle brackets.
	Variables []Shown `json:"variables,omitempty"`
	// Says is what the step would do, in the words of its action.
	Says string `json:"says,omitempty"`
}

// Shown is a variable for people.
type Shown struct {
	Name string `json:"name"`
	Text string `json:"value"`
	// Run is the one in which another step handed the value on, the last time; empty
	// for values that are not of another step, or not known.
	Run string `json:"run,omitempty"`
}

// Preview says what a run would do, in an order in which it could be done, and
// changes nothing. A step is asked what it would do when all that it is given is
// known; of what steps hand on, as it was the last time.
func (r *Runner) Preview(ctx context.Context, plan *Plan) ([]Preview, error) {
	if err := r.known(plan); err != nil {
		return nil, err
	}
	if err := r.able(ctx, plan); err != nil {
		return nil, err
	}
	history, err := r.history(ctx, plan, "")
	if err != nil {
		return nil, err
	}
	last, from, err := history.handedOn(plan)
	if err != nil {
		return nil, err
	}
	var previews []Preview
	for _, i := range plan.Graph.Order() {
		step := plan.Steps[i]
		var ignored []string
		if action := r.Actions[step.Action.Value]; action != nil {
			ignored = action.Capabilities().Ignores
		}
		variables, known := last.previewed(step, ignored)
		variables = plan.secrets.conceal(step, variables)
		preview := Preview{Step: step.ID().String(), Action: step.Action.Value}
		secrets := slices.Clone(plan.secrets.texts)
		for _, one := range variables {
			shown := Shown{Name: diagnostic.Printable(one.Name), Text: printable(one.Text()), Run: from[one.From]}
			if one.Secret {
				shown.Text = hidden
				secrets = append(secrets, one.Text())
			}
			preview.Variables = append(preview.Variables, shown)
		}
		switch {
		case plan.skips(step):
			preview.Says = skipped
		case !known:
			preview.Says = "what it would do is known once the steps before it are done"
		default:
			attempt := &Attempt{
				Run: "dry-run", Step: step, Number: 1, Variables: variables, Log: io.Discard, Report: func(string) {},
				Mask: func(text string, more ...string) string { return mask(text, slices.Concat(secrets, more)) },
			}
			if step.Soak != nil {
				attempt.Since, _ = history.first("", step.Soak.Since.ID(), plan.Inputs.Revision)
			}
			if preview.Says, err = r.Actions[step.Action.Value].Preview(ctx, attempt); err != nil {
				return nil, fmt.Errorf("step %s: %w", step.ID(), &shownError{err, secrets})
			}
			preview.Says = printable(mask(preview.Says, secrets))
		}
		previews = append(previews, preview)
	}
	return previews, nil
}

// printable is a text of several lines without what a terminal would obey instead
// of show. Secrets are masked before, because it changes them.
func printable(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, diagnostic.Printable(strings.ReplaceAll(line, "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}

// shownError is an error in the words of a step, as it may be shown.
type shownError struct {
	err     error
	secrets []string
}

func (e *shownError) Error() string { return diagnostic.Printable(mask(e.err.Error(), e.secrets)) }

func (e *shownError) Unwrap() error { return e.err }
