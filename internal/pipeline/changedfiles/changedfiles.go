package changedfiles

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"salve/internal/pipeline"
)

// patience bounds each call of git.
const patience = 30 * time.Second

// RefError says that a repository has no such commit.
type RefError struct{ Ref, Repository string }

func (e *RefError) Error() string {
	return fmt.Sprintf("git knows no commit %q in %s", e.Ref, e.Repository)
}

// Since is what changed in a repository between a commit and the files as they are
// now, those that nobody committed yet among them.
type Since struct {
	ref  string
	root string
	// changed are paths from the root.
	changed []string
}

// From asks git what changed in the repository of a folder since a commit.
func From(ctx context.Context, folder, ref string) (*Since, error) {
	root, err := git(ctx, folder, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	s := &Since{ref: ref, root: strings.TrimSuffix(root, "\n")}
	if _, err := git(ctx, s.root, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}"); err != nil {
		return nil, &RefError{ref, s.root}
	}
	differs, err := git(ctx, s.root, "diff", "--name-only", "--no-renames", "-z", "--end-of-options", ref, "--")
	if err != nil {
		return nil, err
	}
	added, err := git(ctx, s.root, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	for path := range strings.SplitSeq(differs+added, "\x00") {
		if path != "" {
			s.changed = append(s.changed, filepath.FromSlash(path))
		}
	}
	return s, nil
}

// outside is said of what git can't tell anything of.
const outside = ", which is outside of the repository"

// Touches tells whether something changed that the pipeline is or refers to, and
// what.
func (s *Since) Touches(file *pipeline.File) (what string, touched bool) {
	for _, name := range file.Names() {
		inside, ok := inside(s.root, name)
		if !ok {
			return name + outside, true
		}
		for _, changed := range s.changed {
			if relative, err := filepath.Rel(inside, changed); err == nil && filepath.IsLocal(relative) {
				return changed, true
			}
		}
	}
	return "", false
}

// Reconfigures tells whether a value changed in the configuration that the
// pipeline uses, and where.
func (s *Since) Reconfigures(ctx context.Context, file *pipeline.File, config *pipeline.Config) (what string,
	changed bool) {
	inside, ok := inside(s.root, config.Path)
	if !ok {
		return config.Path + outside, true
	}
	content, err := git(ctx, s.root, "show", "--end-of-options", s.ref+":"+filepath.ToSlash(inside))
	if err != nil {
		return inside + ", which was not there", true
	}
	before, found := pipeline.ParseConfig(config.Path, []byte(content))
	if before == nil || found.Errors() > 0 {
		return inside + ", which could not be read", true
	}
	for _, path := range file.ConfigPaths() {
		then, was := before.Holds(path)
		now, is := config.Holds(path)
		if then != now || was != is {
			return path + " in " + inside, true
		}
	}
	return "", false
}

// Rewrites tells whether a file changed, or can't be told of.
func (s *Since) Rewrites(path string) bool {
	inside, ok := inside(s.root, path)
	return !ok || slices.Contains(s.changed, inside)
}

// inside is a path from a repository's root; ok is false outside of it.
func inside(root, path string) (inside string, ok bool) {
	path, err := located(path)
	if err != nil {
		return "", false
	}
	inside, err = filepath.Rel(root, path)
	return inside, err == nil && filepath.IsLocal(inside)
}

// located is where a file really is: git names a repository's root by its real path.
// The last part may be a link itself, which is what git keeps.
func located(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(absolute)); err == nil {
		absolute = filepath.Join(folder, filepath.Base(absolute))
	}
	return absolute, nil
}

// Root is the root of the repository that a folder is in, or the folder itself
// where there is none.
func Root(ctx context.Context, folder string) string {
	root, err := git(ctx, folder, "rev-parse", "--show-toplevel")
	if err != nil {
		return folder
	}
	return strings.TrimSuffix(root, "\n")
}

func git(ctx context.Context, folder string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, args...)...)
	said, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s in %s: %s", args[0], folder, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", args[0], folder, err)
	}
	return string(said), nil
}
