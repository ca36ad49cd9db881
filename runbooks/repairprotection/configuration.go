package repairprotection

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"salve/internal/prow/config"
)

// Configuration is the configuration of a Prow instance as it was read.
type Configuration struct {
	Config *config.Config
	// Digest stands for all files that were read.
	Digest string
}

// ReadConfiguration reads what the inputs name. The error is a *config.Error when Prow would not run with it.
func ReadConfiguration(in Inputs) (Configuration, error) {
	loaded, digest, err := config.Paths{Config: in.Config, Jobs: in.JobConfig, Supplemental: in.Supplemental}.Read()
	if err != nil {
		return Configuration{}, err
	}
	return Configuration{Config: loaded, Digest: digest}, nil
}

// ReadBase reads the earlier configuration that the inputs name; the zero one when they name none.
func ReadBase(in Inputs) (Configuration, error) {
	if in.BaseConfig == "" {
		return Configuration{}, nil
	}
	base, err := ReadConfiguration(Inputs{Config: in.BaseConfig, JobConfig: in.BaseJobConfig})
	if err != nil {
		return Configuration{}, fmt.Errorf("--base-config: %w", err)
	}
	return base, nil
}

// gitPatience bounds a question to git.
const gitPatience = 30 * time.Second

// revisionOf is the commit that the configuration is of. Files that were changed since then are of no revision.
func revisionOf(ctx context.Context, in Inputs) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	folder := filepath.Dir(in.Config)
	commit, err := git(ctx, folder, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return "", fmt.Errorf("revision of the configuration not found: %w. hint: --revision COMMIT", err)
	}
	paths := append([]string{in.Config}, in.Supplemental...)
	if in.JobConfig != "" {
		paths = append(paths, in.JobConfig)
	}
	changed, err := git(ctx, folder, append([]string{"status", "--porcelain", "--"}, paths...)...)
	switch {
	case err != nil:
		return "", fmt.Errorf("revision of the configuration not found: %w. hint: --revision COMMIT", err)
	case changed != "":
		first, _, _ := strings.Cut(changed, "\n")
		return "", fmt.Errorf("configuration of no revision: files were changed and not committed (%s). "+
			"hint: commit them, or --revision", strings.TrimSpace(first))
	}
	return commit, nil
}

func git(ctx context.Context, folder string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", arguments...) //nolint:gosec // the program is git, and no shell is between
	command.Dir = folder
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", arguments[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
