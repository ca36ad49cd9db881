package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/pipeline/program"
	"salve/internal/pipeline/shell"
)

// key stands for all that a build depends on: the files of the repository that
// the folder belongs to, or of the folder where there is none; the command; the
// platform; the tools. Outputs are what the build makes, not what it depends on.
func (o Order) key(ctx context.Context, outputs []string) (string, error) {
	folder := o.File.Folder()
	root, files, err := sources(ctx, folder)
	if err != nil {
		return "", err
	}
	made := map[string]bool{}
	for _, path := range outputs {
		absolute, err := filepath.Abs(filepath.Join(folder, path))
		if err != nil {
			return "", err
		}
		made[absolute] = true
	}
	sum := sha256.New()
	for _, word := range append(o.command(), o.platform().String()) {
		fmt.Fprintf(sum, "%q\n", word)
	}
	for _, variable := range o.environment() {
		if decides(variable) {
			fmt.Fprintf(sum, "variable %q\n", variable)
		}
	}
	tools, err := o.toolchain(ctx, made)
	if err != nil {
		return "", err
	}
	for _, tool := range tools {
		fmt.Fprintf(sum, "tool %q\n", tool)
	}
	for _, file := range files {
		path := filepath.Join(root, file)
		if made[path] {
			continue
		}
		if err := add(sum, file, path); err != nil {
			return "", fmt.Errorf("reading what the build depends on: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// decides tells the variables that compilers and their kin read. A build that
// depends on another one has to be done anew by hand.
func decides(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "PATH", "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "TARGETPLATFORM":
		return true
	}
	return strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_")
}

// sources are the files that a build may read: those of the git repository that
// are not ignored, because a program is seldom made of one folder alone, or else
// all of the folder.
func sources(ctx context.Context, folder string) (root string, files []string, err error) {
	top, err := git(ctx, folder, "rev-parse", "--show-toplevel")
	if err != nil {
		files, err = walk(folder)
		root, absErr := filepath.Abs(folder)
		return root, files, errors.Join(err, absErr)
	}
	root = strings.TrimSuffix(top, "\n")
	listed, err := git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return "", nil, fmt.Errorf("asking git which files there are: %w", err)
	}
	files = strings.Split(strings.TrimSuffix(listed, "\x00"), "\x00")
	slices.Sort(files)
	return root, slices.Compact(files), nil
}

func git(ctx context.Context, folder string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir = folder
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", arguments[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

func walk(folder string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inside, err := filepath.Rel(folder, path)
		files = append(files, inside)
		return err
	})
	return files, err
}

// add takes a file into the sum: its name, whether it is executable, its content.
// A tracked file that was removed is a change too; a link is where it leads to.
func add(sum hash.Hash, name, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(sum, "gone %q\n", name)
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		fmt.Fprintf(sum, "link %q %q\n", name, to)
		return err
	case !info.Mode().IsRegular():
		fmt.Fprintf(sum, "other %q %s\n", name, info.Mode().Type())
		return nil
	}
	content, err := digest(path)
	fmt.Fprintf(sum, "file %q %t %s\n", name, info.Mode()&0o111 != 0, content)
	return err
}

// digest is the hash of a file's content. What is no regular file, such as a pipe, has none: reading it might never
// end.
func digest(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return info.Mode().Type().String(), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// toolchain says which tools a build uses: the program of its command and those
// that the command names, each with size and time of change, and what Go says of
// its version, which a go.mod may choose. What the build makes is no tool of it.
func (o Order) toolchain(ctx context.Context, made map[string]bool) ([]string, error) {
	folder, err := filepath.Abs(o.File.Folder())
	if err != nil {
		return nil, err
	}
	names := []string{o.File.BuildStep.Command.Value}
	for _, argument := range o.File.BuildStep.Args {
		words, _ := shell.Commands(argument.Value) // most arguments are no scripts
		names = append(names, words...)
	}
	slices.Sort(names)
	var tools []string
	for _, name := range slices.Compact(names) {
		path, err := tool(folder, name)
		if err != nil || made[path] {
			continue // a builtin of the shell, or a folder
		}
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		tools = append(tools, fmt.Sprintf("%s %d %s", path, info.Size(), info.ModTime().UTC()))
		if name == "go" {
			version := exec.CommandContext(ctx, path, "version")
			version.Dir = folder
			if said, err := version.Output(); err == nil {
				tools = append(tools, strings.TrimSpace(string(said)))
			}
		}
	}
	return tools, nil
}

// tool finds a program as a shell does whose working folder this is.
func tool(folder, name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	return exec.LookPath(name)
}

// goSettings are the variables that build for the machine at hand where go env -w has
// chosen another platform for all builds of this user, and what they overrule. There
// are none in general: then nothing is forced.
func (o Order) goSettings(ctx context.Context, folder string) (native, overruled []string) {
	path, err := exec.LookPath("go")
	if err != nil || o.Platform != (program.Platform{}) {
		return nil, nil
	}
	// In the builder's own folder no go.mod asks for another Go.
	settings := exec.CommandContext(ctx, path, "env", "GOOS", "GOHOSTOS", "GOARCH", "GOHOSTARCH")
	settings.Dir, settings.Env = folder, o.environment()
	said, err := settings.Output()
	values := strings.Fields(string(said))
	if err != nil || len(values) != 4 {
		return nil, nil
	}
	for i, name := range []string{"GOOS", "GOARCH"} {
		if set, host := values[2*i], values[2*i+1]; set != host {
			native = append(native, name+"="+host)
			overruled = append(overruled, fmt.Sprintf("%s=%s (of go env -w; go env -u %s takes it back)", name, set, name))
		}
	}
	return native, overruled
}
