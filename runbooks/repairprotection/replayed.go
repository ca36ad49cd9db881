package repairprotection

import (
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/internal/prow/protector"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

// Replayed makes the runbook for its decisions alone, as a replay makes it: guards decide from recorded readings, and
// nothing is read. What is done to a branch only the configuration told, which is not in the record: it has a step of
// each kind.
func Replayed(in Inputs, target runbook.Target) (runbook.Runbook, error) {
	host, err := github.Host(in.GitHub)
	if err != nil {
		return runbook.Runbook{}, err
	}
	r := &repair{
		in: in, first: recordName, target: target, host: host, branches: &branches.Reader{}, cluster: &protector.Reader{},
	}
	steps, err := r.replayedSteps(in.Branches, protection.Protect, protection.Unprotect, protection.Leftover)
	if err != nil {
		return runbook.Runbook{}, err
	}
	return r.book(append([]runbook.Step{r.recordRevision()}, steps...)), nil
}

// ReplayedUndo is Replayed for the runbook that undoes a run.
func ReplayedUndo(in UndoInputs, target runbook.Target) (runbook.Runbook, error) {
	u := &undo{from: in, repair: &repair{
		in: Inputs{AllowUnprotect: in.AllowUnprotect}, first: readPreviousName, target: target,
		branches: &branches.Reader{}, cluster: &protector.Reader{},
	}}
	var planned []Planned
	for _, restored := range in.Branches {
		planned = append(planned, restored.Planned)
	}
	u.in.Branches = planned
	steps, err := u.replayedSteps(planned, protection.Restore)
	if err != nil {
		return runbook.Runbook{}, err
	}
	for i := range steps {
		steps[i].Guards, steps[i].Preconditions = []string{"no-protector-running"}, steps[i].Preconditions[:1]
	}
	return u.book(append([]runbook.Step{u.readPrevious()}, steps...)), nil
}

// replayedSteps are those of planned branches, one of each kind.
func (r *repair) replayedSteps(planned []Planned, kinds ...protection.Kind) ([]runbook.Step, error) {
	var steps []runbook.Step
	for _, one := range planned {
		branch, err := branches.Parse(one.Branch)
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			steps = append(steps, r.replayedStep(one, branch, kind))
		}
	}
	return steps, nil
}

func (r *repair) replayedStep(planned Planned, branch config.Branch, kind protection.Kind) runbook.Step {
	r.rules = append(r.rules, protection.Rule{Branch: branch, Kind: kind})
	return r.step(&branchStep{repair: r, at: len(r.rules) - 1, planned: planned})
}
