package pipeline

import (
	"path/filepath"
	"slices"
	"strings"

	"salve/pipeline/shell"
)

// Sources are the files that steps name themselves, in a field or as a program that
// a command executes, and that the build step can't have made.
func (f *File) Sources() []string {
	var names []string
	for _, step := range f.Steps() {
		for _, path := range step.Paths {
			names = append(names, f.seen(path.Value))
		}
		if step.Shell != nil {
			names = append(names, f.programsOf(step.Shell)...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), f.made())
}

// Mentions are the words of all commands as paths: where one is that of a file, the
// command may read it, or write it.
func (f *File) Mentions() []string {
	var names []string
	for _, step := range f.Steps() {
		if step.Shell == nil {
			continue
		}
		words, _ := shell.Words(step.Shell.Command.Value) // no shell says nothing
		for _, word := range words {
			if !filepath.IsAbs(word) {
				names = append(names, filepath.Join(f.seen(step.Shell.WorkingDir.Value), word))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// programsOf are the programs that a step executes by their paths. Those of the
// machine, whose paths are absolute, are not.
func (f *File) programsOf(step *Shell) []string {
	var names []string
	commands, _ := shell.Commands(step.Command.Value) // no shell executes nothing
	for _, command := range commands {
		if strings.Contains(command, "/") && !filepath.IsAbs(command) {
			names = append(names, filepath.Join(f.seen(step.WorkingDir.Value), command))
		}
	}
	return names
}
