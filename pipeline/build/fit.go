package build

import (
	"errors"
	"fmt"

	"salve/pipeline"
	"salve/pipeline/program"
)

// MisfitError lists the programs that the machine can't execute.
type MisfitError struct {
	Problems []error
}

func (e *MisfitError) Error() string { return errors.Join(e.Problems...).Error() }

// Fit examines every program that a Shell step of the pipeline will execute. It
// fails with *MisfitError, or with what kept it from looking. rebuild is the
// command that builds the programs for the machine.
func Fit(file *pipeline.File, machine program.Machine, rebuild string) (examined int, err error) {
	var problems []error
	for _, executed := range ExecutedBy(file) {
		path, looked := find(executed, machine)
		if !looked {
			continue
		}
		examined++
		err := fits(path, machine, rebuild)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", naming(executed.Steps), err))
		}
	}
	if len(problems) > 0 {
		return examined, &MisfitError{problems}
	}
	return examined, nil
}

// find is the file of a program. A bare name that is not on the PATH may be a
// builtin of the shell, which is for the shell to know.
func find(executed Executed, machine program.Machine) (path string, found bool) {
	if executed.Ours() {
		return executed.Path, true
	}
	if machine.Find == nil {
		return "", false
	}
	path, err := machine.Find(executed.Path)
	return path, err == nil
}

func fits(path string, machine program.Machine, rebuild string) error {
	if !isFile(path) {
		return &program.UnfitError{Path: path, Reason: "is not there", Mend: rebuild}
	}
	examined, err := program.Examine(path)
	if err != nil {
		return err
	}
	return machine.Fit(examined, rebuild)
}
