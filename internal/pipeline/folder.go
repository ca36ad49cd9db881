package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/shell"
)

// folder looks for what the pipeline names in its folder and on this machine.
func (v *validator) folder() {
	v.folders, v.files = map[string]string{}, map[string]string{}
	made := v.file.made()
	for _, step := range v.steps {
		inside := step.Shell == nil || v.workingDir(step)
		if step.Shell != nil {
			for _, script := range step.Shell.Scripts() {
				v.script(step, script, made, inside)
			}
			if dry := step.Shell.DryRun; dry != nil {
				v.script(step, dry.Command, made, inside)
			}
		}
		for _, path := range step.Paths {
			v.named(step, path, made)
		}
	}
	v.using(made)
	if service := v.file.Service; service != nil && service.Rollback != nil {
		// What the build step makes isn't there when nothing can be built.
		v.files = map[string]string{}
		v.script(nil, service.Rollback.Command, nothing, true)
	}
}

// workingDir tells whether a step's folder is there and where steps may work,
// wherever links lead. It says so when it isn't.
func (v *validator) workingDir(step *Step) bool {
	named := step.Shell.WorkingDir
	if templated(named.Value) {
		return false
	}
	root, called := v.root()
	switch {
	case filepath.IsAbs(named.Value):
		v.add(step, named.At, "working-dir", "write it as seen from the pipeline's folder", "workingDir %q is absolute",
			named.Value)
		return false
	case v.in.FileOnly && v.in.Root == "" && root == v.file.Folder() && v.leaves(root, named.Value):
		return false // the repository is not at hand, and may be larger than the folder
	case v.leaves(root, named.Value):
		v.add(step, named.At, "working-dir", "--root FOLDER names another folder that steps may work in",
			"workingDir %q leaves %s", named.Value, called)
		return false
	case v.in.FileOnly:
		return false
	}
	wrong, seen := v.folders[named.Value]
	if !seen {
		wrong = v.folderWrong(named.Value, root, called)
		v.folders[named.Value] = wrong
	}
	if wrong != "" {
		v.add(step, positionOr(named, step.At), "working-dir", "", "workingDir %q %s", named.Value, wrong)
	}
	return wrong == ""
}

// folderWrong says what is wrong with a folder that a step works in.
func (v *validator) folderWrong(named, root, called string) string {
	path := filepath.Join(v.file.Folder(), named)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "is no folder, seen from the pipeline's"
	}
	if !within(root, path) {
		return "leads through a link out of " + called
	}
	return ""
}

func positionOr(text Text, otherwise diagnostic.Position) diagnostic.Position {
	if text.At.Line == 0 {
		return otherwise
	}
	return text.At
}

// within tells whether a path leads into a folder, when all links are followed.
func within(folder, path string) bool {
	inside, err := realPath(folder)
	if err != nil {
		return false
	}
	target, err := realPath(path)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(inside, target)
	return err == nil && filepath.IsLocal(relative)
}

// realPath is a path from the root of the machine, with all links followed.
func realPath(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(absolute)
}

// script looks for the programs that a script executes. Where look is false, it
// only reads it.
func (v *validator) script(step *Step, script Text, made madeBy, look bool) {
	if templated(script.Value) || script.Value == "" {
		return
	}
	commands, err := shell.Commands(script.Value)
	if err != nil {
		v.add(step, script.At, "shell-syntax", "", "the command is no shell: %v", err)
		return
	}
	if !look || v.in.FileOnly {
		return
	}
	slices.Sort(commands)
	for _, command := range slices.Compact(commands) {
		v.program(step, script.At, command, made)
	}
}

func (v *validator) program(step *Step, at diagnostic.Position, command string, made madeBy) {
	if !strings.Contains(command, "/") {
		if v.in.LookPath == nil {
			return
		}
		if _, err := v.in.LookPath(command); err != nil {
			v.add(step, at, "program-missing", v.beside(step, command), "the program %s is not on PATH", command)
		}
		return
	}
	path := command
	if !filepath.IsAbs(command) {
		folder := v.file.Folder()
		if step != nil {
			folder = filepath.Join(folder, step.Shell.WorkingDir.Value)
		}
		path = filepath.Join(folder, command)
	}
	wrong, seen := v.files[path]
	if !seen {
		wrong = v.programWrong(path, made)
		v.files[path] = wrong
	}
	if wrong != "" {
		v.add(step, at, "program-missing", v.near(path, command), "the program %s is %s", command, wrong)
	}
}

// near suggests a file of the same folder for one that isn't there.
func (v *validator) near(path, named string) string {
	if _, err := os.Stat(path); err == nil {
		return ""
	}
	folder, file := filepath.Split(named)
	there, err := os.ReadDir(filepath.Dir(path)) // of a folder that can't be read nothing is suggested
	if err != nil {
		return v.nearFolder(filepath.Dir(path), strings.TrimSuffix(folder, "/"), file)
	}
	names := make([]string, 0, len(there))
	for _, one := range there {
		names = append(names, folder+one.Name())
	}
	return v.spelling.DidYouMean(named, names)
}

// nearFolder suggests a folder beside one that isn't there, if the file is in it.
func (v *validator) nearFolder(path, named, file string) string {
	parent, _ := filepath.Split(named)
	beside, _ := os.ReadDir(filepath.Dir(path))
	var names []string
	for _, one := range beside {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), one.Name(), file)); err == nil {
			names = append(names, parent+one.Name()+"/"+file)
		}
	}
	return v.spelling.DidYouMean(named+"/"+file, names)
}

// beside suggests a program of the step's folder for one that isn't on PATH.
func (v *validator) beside(step *Step, command string) string {
	folder := v.file.Folder()
	if step != nil {
		folder = filepath.Join(folder, step.Shell.WorkingDir.Value)
	}
	if info, err := os.Stat(filepath.Join(folder, command)); err == nil && info.Mode().IsRegular() {
		return fmt.Sprintf("did you mean %q?", "./"+command)
	}
	return ""
}

// programWrong says why a file can't be executed.
func (v *validator) programWrong(path string, made madeBy) string {
	switch info, err := os.Stat(path); {
	case err != nil && made(path):
		return ""
	case err != nil && v.file.BuildStep == nil:
		return "not there"
	case err != nil:
		return "neither in the pipeline's folder nor made by the build step"
	case info.IsDir():
		return "a folder"
	case info.Mode()&0o111 == 0:
		return "not executable; chmod +x it"
	}
	return ""
}

// named looks for a file or a folder that a step names.
func (v *validator) named(step *Step, named Text, made madeBy) {
	if v.in.FileOnly || templated(named.Value) || named.Value == "" {
		return
	}
	path := v.file.seen(named.Value)
	if _, err := os.Stat(path); err != nil && !made(path) {
		v.add(step, named.At, "file-missing", v.near(path, named.Value), "there is no %s, seen from the pipeline's folder",
			named.Value)
	}
}

// madeBy tells whether the build step makes a file, as far as that can be known.
type madeBy func(path string) bool

func nothing(string) bool    { return false }
func everything(string) bool { return true }

// transparent are programs that make no files but those that their words name.
func transparent() []string {
	return strings.Fields(
		`go cp mv ln install touch chmod mkdir mktemp rm cat tee sed jq date uname dirname basename`)
}

// made is what the build step makes: the files that its words name, or those in
// folders that they name, and whatever else if nobody knows.
func (f *File) made() madeBy {
	build := f.BuildStep
	if build == nil {
		return nothing
	}
	words, known := build.words()
	if !known {
		return everything
	}
	named := map[string]bool{}
	for _, word := range words {
		named[f.seen(word)] = true
	}
	return func(path string) bool { return named[path] || named[filepath.Dir(path)] }
}

// words are those of the build step; known is false when it runs a program of which
// nothing is known, such as make.
func (b *BuildStep) words() (words []string, known bool) {
	words = []string{b.Command.Value}
	for _, arg := range b.Args {
		words = append(words, arg.Value)
	}
	known = slices.Contains(transparent(), filepath.Base(b.Command.Value))
	if name := filepath.Base(b.Command.Value); name == "bash" || name == "sh" {
		script, given := scriptOf(words[1:])
		commands, err := shell.Commands(script)
		known = given && err == nil && !slices.ContainsFunc(commands,
			func(name string) bool { return !slices.Contains(transparent(), name) })
		words, _ = shell.Words(script) // without an error above there is none here
	}
	if slices.Contains(words, "run") || slices.Contains(words, "generate") {
		return words, false // of go, which run other programs
	}
	return words, known
}

// scriptOf is the script behind -c, of the arguments of a shell.
func scriptOf(args []string) (script string, given bool) {
	for at, arg := range args {
		switch {
		case !strings.HasPrefix(arg, "-"):
			return "", false
		case !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c") && at+1 < len(args):
			return args[at+1], true
		}
	}
	return "", false
}

// seen is a path as it is seen from the pipeline's folder.
func (f *File) seen(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(f.Folder(), path)
}

// Names are the files and folders that the pipeline refers to, itself among them.
// With a build step of which nothing is known, its whole folder is. Programs of the
// machine, which are named by absolute paths, are not.
func (f *File) Names() []string {
	names := []string{f.Path}
	if f.BuildStep != nil {
		words, known := f.BuildStep.words()
		if !known {
			names = append(names, f.Folder())
		}
		for _, word := range words {
			if strings.Contains(word, "/") && !filepath.IsAbs(word) {
				names = append(names, f.seen(word))
			}
		}
	}
	for _, step := range f.Steps() {
		for _, path := range step.Paths {
			names = append(names, f.seen(path.Value))
		}
		if step.Shell != nil {
			names = append(names, f.namesOfShell(step.Shell)...)
		}
	}
	names = append(names, f.used()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// namesOfShell are the programs of a step, and the folder in which they run: what
// else they need lies there. The pipeline's own folder is not meant by that.
func (f *File) namesOfShell(step *Shell) []string {
	folder := f.seen(step.WorkingDir.Value)
	var names []string
	if folder != f.Folder() {
		names = append(names, folder)
	}
	return append(names, f.programsOf(step)...)
}
