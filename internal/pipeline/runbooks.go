package pipeline

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// RegisteredRunbook is a runbook that there is, as far as steps have to do with it.
type RegisteredRunbook struct {
	// Budget is how long it takes at most, unless it is given another; 0 is unknown.
	Budget time.Duration
	// Inputs are the names of what it can be given.
	Inputs []string
	// Refuses says why an input can't be a value; nil where it can. It is asked for
	// inputs that there are.
	Refuses func(input string, value any) error
}

// runbooks looks whether there are the runbooks that steps name, and whether these
// take what they are given.
func (v *validator) runbooks() {
	if v.in.Runbooks == nil {
		return
	}
	names := slices.Sorted(maps.Keys(v.in.Runbooks))
	for _, step := range v.steps {
		if step.Runbook == nil || step.Runbook.Runbook.Value == "" || templated(step.Runbook.Runbook.Value) {
			continue
		}
		name := step.Runbook.Runbook
		if known, ok := v.in.Runbooks[name.Value]; ok {
			v.arguments(step, known)
			continue
		}
		advice := v.spelling.DidYouMean(name.Value, names)
		if advice == "" {
			advice = "there are " + strings.Join(names, ", ")
		}
		v.add(step, name.At, "unknown-runbook", advice, "there is no runbook %q", name.Value)
	}
}

// arguments validates what a step gives to its runbook, as far as it is known.
func (v *validator) arguments(step *Step, to RegisteredRunbook) {
	book := step.Runbook.Runbook.Value
	for _, given := range step.Runbook.With {
		name := given.Name.Value
		switch {
		case !slices.Contains(to.Inputs, name):
			advice := v.spelling.DidYouMean(name, to.Inputs)
			if advice == "" {
				advice = "salve run " + book + " --help lists them"
			}
			v.add(step, given.Name.At, "unknown-input", advice, "runbook %s has no input %q", book, name)
		case given.Literal == nil || templated(given.Plain()):
		case name == budgetName:
			// It is validated with the step's timeout.
		default:
			if err := to.Refuses(name, given.Literal); err != nil {
				v.add(step, given.At, "wrong-value", "", "%s %q: %v", name, given.Plain(), err)
			}
		}
	}
}

// budgetName is the input that bounds a runbook's time.
const budgetName = "budget"

// budget is how long a step's runbook may take, where that is known.
func (v *validator) budget(step *Step) (time.Duration, bool) {
	for _, given := range step.Runbook.With {
		text, isText := given.Literal.(string)
		if given.Name.Value != budgetName || given.Literal == nil || templated(text) {
			continue
		}
		budget, err := time.ParseDuration(text)
		if !isText || err != nil || budget <= 0 {
			v.add(step, given.At, "wrong-value", "", "budget %q: it must be a length of time such as 90m", given.Plain())
			return 0, false
		}
		return budget, true
	}
	known := v.in.Runbooks[step.Runbook.Runbook.Value]
	return known.Budget, known.Budget > 0
}
