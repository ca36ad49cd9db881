package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"salve/pipeline"
	"salve/pipeline/shell"
)

// Executed is a program that a Shell step will execute.
type Executed struct {
	// Path is the file, or the name of a command that is looked for on the PATH.
	Path string
	// Steps are those that execute it, as in "management/upgrade".
	Steps []string
}

// Ours tells whether the program is named by a path, so that a build step may
// have made it, and not just a command of the machine.
func (e Executed) Ours() bool { return strings.ContainsRune(e.Path, filepath.Separator) }

// ExecutedBy are the programs that the Shell steps of a pipeline name in plain
// words, in the order of the file. What a step makes up while it runs is not seen.
func ExecutedBy(file *pipeline.File) []Executed {
	var all []Executed
	for _, step := range file.Steps() {
		if step.Shell == nil {
			continue
		}
		folder := filepath.Join(file.Folder(), step.Shell.WorkingDir.Value)
		words, err := shell.Commands(step.Shell.Command.Value)
		if err != nil {
			continue // the shell will say so
		}
		for _, word := range words {
			path := word
			if strings.ContainsRune(word, '/') && !filepath.IsAbs(word) {
				path = filepath.Join(folder, word)
				if !strings.ContainsRune(path, filepath.Separator) {
					path = "." + string(filepath.Separator) + path
				}
			}
			at := slices.IndexFunc(all, func(e Executed) bool { return e.Path == path })
			if at < 0 {
				all, at = append(all, Executed{Path: path}), len(all)
			}
			if id := step.ID().String(); !slices.Contains(all[at].Steps, id) {
				all[at].Steps = append(all[at].Steps, id)
			}
		}
	}
	return all
}

// made are the programs that the build step is there to make: those that steps
// name by a path inside of the pipeline's folder, as paths from there, without
// those that git tracks. Those are sources, and a person may be editing them.
func made(ctx context.Context, file *pipeline.File) ([]string, error) {
	folder, err := filepath.Abs(file.Folder())
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, executed := range ExecutedBy(file) {
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
