package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/pipeline"
	"salve/internal/pipeline/shell"
)

// Executed is a program that a Shell step will execute.
type Executed struct {
	// Path is the file, or the name of a command that is looked for on the PATH.
	Path string
	// Elsewhere: every step that executes it goes to another folder first, and may
	// make it on the way.
	Elsewhere bool
	// Steps are those that execute it, as in "management/upgrade".
	Steps []string
}

// Ours tells whether the program is named by a path, so that a build step may
// have made it, and not just a command of the machine.
func (e Executed) Ours() bool { return strings.ContainsRune(e.Path, filepath.Separator) }

// ExecutedBy are the programs that the Shell steps of a pipeline name in plain
// words, in the order of the file. untold is what a step only knows when it runs.
func ExecutedBy(file *pipeline.File) (all []Executed, untold []string) {
	for _, step := range file.Steps() {
		if step.Shell == nil {
			continue
		}
		for _, script := range step.Shell.Scripts() {
			named, more := executedBy(file, step, script.Value)
			for _, one := range named {
				all = executes(all, one, step.ID().String())
			}
			untold = append(untold, more...)
		}
	}
	return all, untold
}

// executedBy are the programs of one script of a step.
func executedBy(file *pipeline.File, step *pipeline.Step, script string) (all []Executed, untold []string) {
	folder := filepath.Join(file.Folder(), step.Shell.WorkingDir.Value)
	programs, err := shell.ProgramsOf(script)
	if err != nil {
		return nil, nil // the shell will say so
	}
	for _, word := range programs.Named {
		all = append(all, Executed{Path: pathOf(folder, word)})
	}
	for _, word := range programs.Elsewhere {
		all = append(all, Executed{Path: pathOf(folder, word), Elsewhere: true})
	}
	for _, word := range programs.Untold {
		untold = append(untold, fmt.Sprintf("step %s: %s", step.ID(), word))
	}
	return all, untold
}

// pathOf is a program as it is seen from where salve runs.
func pathOf(folder, word string) string {
	if !strings.ContainsRune(word, '/') || filepath.IsAbs(word) {
		return word
	}
	path := filepath.Join(folder, word)
	if !strings.ContainsRune(path, filepath.Separator) {
		path = "." + string(filepath.Separator) + path
	}
	return path
}

// executes adds a program of a step to those that are known.
func executes(all []Executed, one Executed, step string) []Executed {
	at := slices.IndexFunc(all, func(e Executed) bool { return e.Path == one.Path })
	if at < 0 {
		one.Steps = []string{step}
		return append(all, one)
	}
	all[at].Elsewhere = all[at].Elsewhere && one.Elsewhere
	if !slices.Contains(all[at].Steps, step) {
		all[at].Steps = append(all[at].Steps, step)
	}
	return all
}

// made are the programs that the build step is there to make: those that steps
// name by a path inside of the pipeline's folder, as paths from there, without
// those that git tracks. Those are sources, and a user may be editing them.
func made(ctx context.Context, file *pipeline.File) ([]string, error) {
	folder, err := filepath.Abs(file.Folder())
	if err != nil {
		return nil, err
	}
	var paths []string
	all, _ := ExecutedBy(file)
	for _, executed := range all {
		if !executed.Ours() {
			continue
		}
		path, err := filepath.Abs(executed.Path)
		if err != nil {
			return nil, err
		}
		if inside, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(inside) {
			paths = append(paths, inside)
		}
	}
	listed, err := git(ctx, folder, "ls-files", "-z")
	if err != nil {
		return paths, nil // no repository, so nothing is tracked
	}
	tracked := map[string]bool{}
	for path := range strings.SplitSeq(listed, "\x00") {
		tracked[path] = true
	}
	return slices.DeleteFunc(paths, func(path string) bool { return tracked[filepath.ToSlash(path)] }), nil
}

// isFile tells whether a path is a file or leads to one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func naming(steps []string) string {
	const shown = 3
	if len(steps) > shown {
		return fmt.Sprintf("steps %s and %d more", strings.Join(steps[:shown], ", "), len(steps)-shown)
	}
	if len(steps) > 1 {
		return "steps " + strings.Join(steps, ", ")
	}
	return "step " + steps[0]
}
