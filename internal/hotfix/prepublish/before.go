package prepublish

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Before gives what a file held at a revision of the git repository that it is in;
// nil where it wasn't there.
func Before(ctx context.Context, revision, file string) ([]byte, error) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	folder, name := filepath.Split(absolute)
	_, err = git(ctx, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	var quiet *exec.ExitError
	switch {
	case errors.As(err, &quiet):
		return nil, fmt.Errorf("there is no revision %q", revision)
	case err != nil:
		return nil, err
	}
	listed, err := git(ctx, folder, "ls-tree", "--end-of-options", revision, "--", "./"+name)
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	return git(ctx, folder, "show", "--end-of-options", revision+":./"+name)
}

// git gives what git prints; where it fails without a word, an *exec.ExitError.
func git(ctx context.Context, folder string, arguments ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, arguments...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) && len(failed.Stderr) > 0 {
		return nil, fmt.Errorf("git: %s", strings.TrimSpace(string(failed.Stderr)))
	}
	return out, err
}
