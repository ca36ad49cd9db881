package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/pipeline/shell"
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
	names = append(names, f.used()...)
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
		folder := f.seen(step.Shell.WorkingDir.Value)
		var words []string
		for _, script := range step.Shell.Scripts() {
			words = append(words, wordsOf(script.Value, innermost)...)
		}
		for _, word := range words {
			names = append(names, filepath.Join(folder, word))
			if info, err := os.Stat(filepath.Join(folder, word)); err != nil || !info.IsDir() {
				continue
			}
			for _, inside := range words { // the command may go there first
				names = append(names, filepath.Join(folder, word, inside))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// innermost is how deep scripts stand in words of scripts, as in bash -c '…'.
const innermost = 3

// wordsOf are the words of a script that may be paths, and those of scripts in them.
// What is no shell says nothing.
func wordsOf(script string, deep int) []string {
	var all []string
	words, _ := shell.Words(script)
	for _, word := range words {
		switch {
		case strings.ContainsAny(word, " \t\n") && deep > 0:
			all = append(all, wordsOf(word, deep-1)...)
		case !filepath.IsAbs(word):
			all = append(all, word)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// programsOf are the programs that a step executes by their paths. Those of the
// machine, whose paths are absolute, are not.
func (f *File) programsOf(step *Shell) []string {
	var names []string
	for _, script := range step.Scripts() {
		commands, _ := shell.Commands(script.Value) // no shell executes nothing
		for _, command := range commands {
			if strings.Contains(command, "/") && !filepath.IsAbs(command) {
				names = append(names, filepath.Join(f.seen(step.WorkingDir.Value), command))
			}
		}
	}
	return names
}
