package build

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/pipeline"
	"salve/internal/pipeline/program"
)

// MisfitError lists the programs that the machine can't execute.
type MisfitError struct {
	Problems []error
	// Restored: they came of a build, and the programs are as they were before it.
	Restored bool
}

func (e *MisfitError) Error() string {
	const shown = 20
	var problems []string
	for _, problem := range e.Problems[:min(shown, len(e.Problems))] {
		problems = append(problems, problem.Error())
	}
	if more := len(e.Problems) - shown; more > 0 {
		problems = append(problems, fmt.Sprintf("and %d more", more))
	}
	says := strings.Join(problems, "; ")
	if e.Restored {
		says += restored
	}
	return says
}

// restored is said of a build whose programs don't fit.
const restored = "; the programs are as they were before the build"

// fit examines what was built, of the programs that steps execute for certain.
func (o Order) fit(programs []string) error {
	if o.Machine.Platform == (program.Platform{}) {
		return nil
	}
	var problems []error
	all, _ := ExecutedBy(o.File)
	for _, executed := range all {
		inside, err := filepath.Rel(o.File.Folder(), executed.Path)
		if err != nil || !slices.Contains(programs, inside) || executed.Elsewhere && !isFile(executed.Path) {
			continue
		}
		if err := fits(executed.Path, o.Machine, o.mending()); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", naming(executed.Steps), err))
		}
	}
	if len(problems) > 0 {
		return &MisfitError{problems, true}
	}
	return nil
}

// mending is what mends a program that the build has just made: the build itself.
func (o Order) mending() string {
	return fmt.Sprintf("let the build step at %s build it for the platform that it is told, "+
		"and take what forces another one out of it", o.File.BuildStep.At)
}

// Examination is what is known of the programs that steps will execute.
type Examination struct {
	// Examined counts those that were looked at.
	Examined int
	// Untold are those of which nothing can be told before they run, with the steps
	// that execute them.
	Untold []string
}

// Fit examines every program that a Shell step of the pipeline names. It fails with
// *MisfitError, or with what kept it from looking. rebuild is the command that
// builds the programs for the machine.
func Fit(file *pipeline.File, machine program.Machine, rebuild string) (found Examination, err error) {
	return fit(file, machine, rebuild, false)
}

// FitBefore examines as Fit does before the build step runs: a program that isn't there yet may come of that.
func FitBefore(file *pipeline.File, machine program.Machine, rebuild string) (found Examination, err error) {
	return fit(file, machine, rebuild, file.BuildStep != nil)
}

func fit(file *pipeline.File, machine program.Machine, rebuild string, unbuilt bool) (found Examination, err error) {
	var problems []error
	all, untold := ExecutedBy(file)
	found.Untold = untold
	for _, executed := range all {
		path, looked := find(executed, machine)
		if !looked {
			continue
		}
		switch {
		case isFile(path):
		case executed.Elsewhere:
			found.Untold = append(found.Untold, fmt.Sprintf("%s: %s", naming(executed.Steps), path))
			continue
		case unbuilt:
			found.Untold = append(found.Untold, fmt.Sprintf("%s: %s, which is not built yet", naming(executed.Steps), path))
			continue
		}
		found.Examined++
		if err := fits(path, machine, rebuild); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", naming(executed.Steps), err))
		}
	}
	if len(problems) > 0 {
		return found, &MisfitError{problems, false}
	}
	return found, nil
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
