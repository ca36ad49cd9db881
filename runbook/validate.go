package runbook

import (
	"fmt"
	"slices"
)

// InvalidError says what of a runbook is invalid. It is found before anything is
// read or changed.
type InvalidError struct {
	Runbook string
	Reason  string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("invalid runbook %q: %s", e.Runbook, e.Reason)
}

// Validate finds the mistakes of a runbook's author: what has no name or the name
// of another, guards without a function, steps that can't act, predecessors that do
// not exist or wait for each other, no checks, no budget.
func (r Runbook) Validate() error {
	v := validation{guards: map[string]bool{}, steps: map[string]bool{}}
	v.runbook(r)
	if len(v.problems) > 0 {
		return &InvalidError{Runbook: r.Name, Reason: v.problems[0]}
	}
	return nil
}

type validation struct {
	guards, steps map[string]bool
	problems      []string
}

func (v *validation) add(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

func (v *validation) runbook(r Runbook) {
	switch {
	case r.Name == "":
		v.add("a name is required")
	case r.Version == "":
		v.add("a version is required")
	case r.Target.ID == "":
		v.add("a target ID is required")
	case r.Budget <= 0:
		v.add("a budget is required: a run without one would never end")
	case r.Parallel < 0:
		v.add("parallel is %d", r.Parallel)
	case r.Posture != "" && r.Posture != FailClosed && r.Posture != FailOpen:
		v.add("posture %q: want %q or %q", r.Posture, FailClosed, FailOpen)
	case r.Success != "" && !r.Success.Successful():
		v.add("success %q: want %q or %q", r.Success, Remediated, RolledOut)
	case len(r.Steps) == 0:
		v.add("at least one step is required")
	case len(r.Limits) > 0 && r.Lowered == nil:
		v.add("limits require the function Lowered")
	case len(r.Checks) == 0:
		v.add("at least one check is required: success is what was checked")
	}
	for _, guard := range r.Guards {
		v.guard("guard", guard, v.guards)
	}
	checks := map[string]bool{}
	for _, check := range r.Checks {
		v.guard("check", check, checks)
	}
	for _, step := range slices.Concat(r.Preflight, r.Steps) {
		v.step(step)
	}
	for _, step := range r.Preflight {
		if step.Irreversible || step.Rollback != nil || step.After != nil {
			v.add("preflight step %q: only steps proper are irreversible, rolled back or ordered by After", step.Name)
		}
	}
	if len(v.problems) == 0 {
		v.order(r.Steps)
	}
}

func (v *validation) guard(kind string, guard Guard, names map[string]bool) {
	switch {
	case guard.Name == "":
		v.add("a %s has no name", kind)
	case guard.Evaluate == nil:
		v.add("%s %q has no Evaluate function", kind, guard.Name)
	case guard.Prepare != nil && kind != "guard":
		v.add("%s %q has a Prepare function: only a runbook's guards have one", kind, guard.Name)
	case (guard.Prepare != nil) != (guard.PrepareBudget > 0):
		v.add("%s %q requires both Prepare and PrepareBudget, or neither", kind, guard.Name)
	case names[guard.Name]:
		v.add("duplicate %s %q", kind, guard.Name)
	case guard.problem != "":
		v.add("%s %q decides on what can't be recorded: %s", kind, guard.Name, guard.problem)
	}
	names[guard.Name] = true
}

func (v *validation) step(step Step) {
	switch {
	case step.Name == "" || step.Name == Start:
		v.add("a step has the name %q", step.Name)
	case v.steps[step.Name]:
		v.add("duplicate step %q: steps and rollbacks share one history by name", step.Name)
	case step.Observe == nil || step.Apply == nil:
		v.add("step %q requires Observe and Apply", step.Name)
	case step.Budget < 0 || step.PermitLasts < 0 || step.Grace < 0:
		v.add("step %q has a negative budget, permit or grace", step.Name)
	case step.Irreversible && len(step.Guards)+len(step.Preconditions) == 0:
		v.add("irreversible step %q requires a guard or a precondition", step.Name)
	}
	if r := step.Retries; r != nil && (r.When == nil || r.Count < 0 || r.Between < 0) {
		v.add("retries of step %q require When, and neither count nor pause may be negative", step.Name)
	}
	v.steps[step.Name] = true
	for _, name := range step.Guards {
		if !v.guards[name] {
			v.add("step %q requires guard %q, which the runbook does not have", step.Name, name)
		}
	}
	preconditions := map[string]bool{}
	for _, precondition := range step.Preconditions {
		v.guard(fmt.Sprintf("precondition of step %q", step.Name), precondition, preconditions)
		if slices.Contains(step.Guards, precondition.Name) {
			v.add("step %q has the guard %q as a precondition too", step.Name, precondition.Name)
		}
	}
	if back := step.Rollback; back != nil {
		if back.Rollback != nil || back.Irreversible || back.After != nil {
			v.add("rollback %q can't be rolled back, irreversible or ordered by After", back.Name)
		}
		v.step(*back)
	}
}

// order checks that every predecessor exists and that no step waits for itself.
func (v *validation) order(steps []Step) {
	known := make(map[string]bool, len(steps))
	for _, step := range steps {
		known[step.Name] = true
	}
	for _, step := range steps {
		for _, name := range step.After {
			if name != Start && !known[name] {
				v.add("step %q comes after %q, which the runbook does not have", step.Name, name)
			}
		}
	}
	if cyclic := inCycle(Predecessors(steps)); cyclic != "" {
		v.add("step %q waits for itself: its predecessors form a cycle", cyclic)
	}
}

// inCycle gives the first name, by the alphabet, of those that are never free of
// predecessors; empty when there is none.
func inCycle(predecessors map[string][]string) string {
	waiting := make(map[string]int, len(predecessors))
	successors := make(map[string][]string, len(predecessors))
	var free []string
	for name, before := range predecessors {
		waiting[name] = len(before)
		if len(before) == 0 {
			free = append(free, name)
		}
		for _, other := range before {
			successors[other] = append(successors[other], name)
		}
	}
	for len(free) > 0 {
		name := free[len(free)-1]
		free = free[:len(free)-1]
		delete(waiting, name)
		for _, next := range successors[name] {
			if waiting[next]--; waiting[next] == 0 {
				free = append(free, next)
			}
		}
	}
	cyclic := ""
	for name := range waiting {
		if cyclic == "" || name < cyclic {
			cyclic = name
		}
	}
	return cyclic
}

// Predecessors gives for each step the names of those that must be done before it.
func Predecessors(steps []Step) map[string][]string {
	graph := make(map[string][]string, len(steps))
	for i, step := range steps {
		switch {
		case step.After == nil && i > 0:
			graph[step.Name] = []string{steps[i-1].Name}
		default:
			before := slices.DeleteFunc(slices.Clone(step.After), func(name string) bool { return name == Start })
			slices.Sort(before)
			graph[step.Name] = slices.Compact(before)
		}
	}
	return graph
}
