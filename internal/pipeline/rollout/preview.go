package rollout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"salve/internal/apierr"
	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

// Preview is what is known of a step before anything is run.
type Preview struct {
	Step   string `json:"step"`
	Action string `json:"action"`
	// ExternalDependsOn are the steps of other service groups that it waits for.
	ExternalDependsOn []string `json:"externalDependsOn,omitempty"`
	// Variables are its variables, secrets masked. What will be known only later is
	// named in angle brackets.
	Variables []Shown `json:"variables,omitempty"`
	// Says is what the step would do, in the words of its action.
	Says string `json:"says,omitempty"`
	// Unknown: what it would do is known only once what is before it is done. Says says why.
	Unknown bool `json:"unknown,omitempty"`
	// Failed is why the step could not be run as it is, or why its dry run failed.
	Failed string `json:"failed,omitempty"`

	// Err is what Failed says, for who words it; nil where nothing failed.
	Err error `json:"-"`
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
//
// What is wrong with a step is said of that step, and the others are asked all the same. That something isn't there is
// wrong unless what is rolled out before the step may make it: steps that it waits for, or, if later is true, other
// pipelines.
func (r *Runner) Preview(ctx context.Context, plan *Plan, later bool) ([]Preview, error) {
	checked := map[pipeline.StepID]error{}
	for _, step := range plan.Steps {
		if !plan.skips(step) {
			checked[step.ID()] = r.checked(ctx, plan, step)
		}
	}
	history, err := r.history(ctx, plan, "")
	if err != nil {
		return nil, err
	}
	last, from, err := history.handedOn(plan)
	if err != nil {
		return nil, err
	}
	p := previewer{runner: r, plan: plan, history: history, last: last, from: from, later: later}
	var previews []Preview
	for _, i := range plan.Graph.Order() {
		preview := p.of(ctx, i, checked[plan.Steps[i].ID()])
		if err := context.Cause(ctx); err != nil {
			return nil, err // what failed may have failed for that
		}
		previews = append(previews, preview)
	}
	return previews, nil
}

// checked finds what keeps a step from being run at all.
func (r *Runner) checked(ctx context.Context, plan *Plan, step *pipeline.Step) error {
	action := r.Actions[step.Action.Value]
	if action == nil {
		return fmt.Errorf("no program salve-action-%s was found, which runs its action", step.Action.Value)
	}
	err := action.Check(ctx, step)
	plan.secrets.learn(action, step)
	return err
}

// previewer asks the steps of a plan what they would do.
type previewer struct {
	runner  *Runner
	plan    *Plan
	history *history
	// last are the outputs of the steps when they were done the last time, and from the runs in which that was.
	last outputs
	from map[pipeline.StepID]string
	// later: other pipelines are rolled out before this one.
	later bool
}

func (p *previewer) of(ctx context.Context, i int, wrong error) Preview {
	step := p.plan.Steps[i]
	preview := Preview{Step: step.ID().String(), Action: step.Action.Value, ExternalDependsOn: external(step)}
	action := p.runner.Actions[step.Action.Value]
	var ignored []string
	if action != nil {
		ignored = action.Capabilities().Ignores
	}
	variables, known := p.last.previewed(step, ignored)
	variables = p.plan.secrets.conceal(step, variables)
	secrets := slices.Clone(p.plan.secrets.texts)
	for _, one := range variables {
		shown := Shown{Name: diagnostic.Printable(one.Name), Text: printable(one.Text()), Run: p.from[one.From]}
		if one.Secret {
			shown.Text = hidden
			secrets = append(secrets, one.Text())
		}
		preview.Variables = append(preview.Variables, shown)
	}
	says := ""
	switch {
	case p.plan.skips(step):
		preview.Says = skipped
		return preview
	case wrong != nil:
	case !known:
		preview.Says, preview.Unknown = unknownBefore+theSteps, true
		return preview
	default:
		says, wrong = p.ask(ctx, action, step, variables, secrets)
	}
	if wrong == nil {
		preview.Says = printable(mask(says, secrets))
		return preview
	}
	wrong = &shownError{wrong, secrets}
	if before := p.unmade(i, wrong); before != "" {
		preview.Says, preview.Unknown = unknownBefore+before+": "+wrong.Error(), true
		return preview
	}
	preview.Failed, preview.Err = wrong.Error(), wrong
	return preview
}

// ask asks a step of which all is known what it would do.
func (p *previewer) ask(
	ctx context.Context, action Action, step *pipeline.Step, variables []Variable, secrets []string,
) (string, error) {
	attempt := &Attempt{
		Run: "dry-run", Step: step, Number: 1, Variables: variables, Log: io.Discard, Report: func(string) {},
		Mask: func(text string, more ...string) string { return mask(text, slices.Concat(secrets, more)) },
	}
	if step.Soak != nil {
		attempt.Since, _ = p.history.first("", step.Soak.Since.ID(), p.plan.Inputs.Revision)
	}
	return action.Preview(ctx, attempt)
}

// What it takes to know what a step would do.
const (
	unknownBefore = "what it would do is known once "
	theSteps      = "the steps before it are done"
	theGroups     = "the service groups before it are rolled out"
	theBuild      = "the build step is done"
)

// unmade tells what may yet make that which a step found missing; empty where nothing does, or where something else is
// wrong. It goes by what the error is and never by what it says.
func (p *previewer) unmade(i int, wrong error) string {
	var unseen *UnseenError
	switch missing := apierr.ClassOf(wrong) == apierr.Missing || errors.As(wrong, &unseen); {
	case missing && p.waitsForMaker(i):
		return theSteps
	case missing && p.later:
		return theGroups
	case p.runner.Prepare != nil && errors.Is(wrong, fs.ErrNotExist):
		return theBuild
	}
	return ""
}

// waitsForMaker tells whether a step waits, all the way, for one that may make something.
func (p *previewer) waitsForMaker(i int) bool {
	seen := map[int]bool{}
	next := slices.Clone(p.plan.Graph.Dependencies(i))
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		step := p.plan.Steps[at]
		looks := step.Soak != nil || step.ARM != nil && step.ARM.OutputOnly
		if !looks && !p.plan.skips(step) {
			return true
		}
		next = append(next, p.plan.Graph.Dependencies(at)...)
	}
	return false
}

// external are the steps of other service groups that a step waits for.
func external(step *pipeline.Step) []string {
	var all []string
	for _, ref := range step.ExternalDependsOn {
		all = append(all, diagnostic.Printable(ref.String()))
	}
	return all
}

// UnseenError says that what a step would do can't be told from what is there now, by the word of what runs the step.
type UnseenError struct{ Reason string }

func (e *UnseenError) Error() string { return "whether its work is done can't be seen: " + e.Reason }

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
