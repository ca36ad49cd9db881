package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"salve/internal/pipeline/rollout"
)

// pipelinePaths are the files that an operator names for a resumed pipeline.
type pipelinePaths struct{ pipeline, config, root, logs string }

// confirm compares the paths that a record names with what the operator gave. The record is memory, never authority: a
// file of the working tree is what the operator has before them, and any other has to be named once more. Nothing is
// opened before.
func (p pipelinePaths) confirm(a *app, from *journalFlags, run string, recorded rollout.Inputs) error {
	tree, err := filepath.Abs(".")
	if err != nil {
		return fmt.Errorf("finding the working folder: %w", err)
	}
	usual, err := a.logs(from)
	if err != nil && p.logs == "" {
		return err
	}
	var missing []string
	for _, path := range []struct{ flag, given, recorded, usual string }{
		{"--pipeline", p.pipeline, recorded.Pipeline, ""},
		{"--config", p.config, recorded.Config, ""},
		{"--root", p.root, recorded.Root, ""},
		{"--logs", p.logs, recorded.Logs, usual},
	} {
		switch {
		case path.given != "":
			if given, err := filepath.Abs(path.given); err != nil || !samePath(given, path.recorded) {
				return usage("conflict: %s %q is not what run %q was started with: %q", path.flag, path.given, run, path.recorded)
			}
		case path.recorded != "" && !inside(tree, path.recorded) &&
			(path.usual == "" || !samePath(path.usual, path.recorded)):
			missing = append(missing, path.flag, path.recorded)
		}
	}
	if len(missing) > 0 {
		return usage("run %q names files outside of the working folder. If they are what you mean, name them. hint: %s", run,
			shell(append(append([]string{a.name(), "resume", run}, from.back...), missing...)))
	}
	return nil
}

// samePath tells whether two paths lead to the same file, links followed.
func samePath(one, other string) bool { return followed(one) == followed(other) }

// inside tells whether a path leads into a folder, links followed.
func inside(folder, path string) bool {
	relative, err := filepath.Rel(followed(folder), followed(path))
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

// followed is a path without links, as far as it exists.
func followed(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	folder := filepath.Dir(path)
	if folder == path {
		return path
	}
	return filepath.Join(followed(folder), filepath.Base(path))
}

// announce says what a resumed pipeline reads, writes and gives to its steps.
func announce(inputs rollout.Inputs) string {
	says := "Resuming pipeline " + inputs.Pipeline
	if inputs.Config != "" {
		says += " with configuration " + inputs.Config
	}
	if len(inputs.Pass) > 0 {
		says += "; its steps get " + strings.Join(inputs.Pass, ", ") + " of the environment"
	}
	return says + "; logs go to " + inputs.Logs + "."
}
