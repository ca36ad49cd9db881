package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/rollout"
)

// pipelinePaths are the files that an operator names for a resumed pipeline or entrypoint.
type pipelinePaths struct {
	pipeline, config, values, root, logs string
	overlays, topology                   []string
}

// given tells whether any is named.
func (p pipelinePaths) given() bool {
	return p.pipeline+p.config+p.values+p.root+p.logs != "" || len(p.overlays)+len(p.topology) > 0
}

// recordedPath is a path that a record names, and what the operator gave for it.
type recordedPath struct{ flag, given, recorded string }

// recordedPaths are several of one flag; as many as the operator gave are compared, in their order.
func recordedPaths(flag string, given, recorded []string) []recordedPath {
	paths := make([]recordedPath, max(len(given), len(recorded)))
	for i := range paths {
		paths[i].flag = flag
		if i < len(given) {
			paths[i].given = given[i]
		}
		if i < len(recorded) {
			paths[i].recorded = recorded[i]
		}
	}
	return paths
}

// ofPipeline are the paths of a pipeline's run.
func (p pipelinePaths) ofPipeline(recorded rollout.Inputs) []recordedPath {
	paths := []recordedPath{
		{"--pipeline", p.pipeline, recorded.Pipeline}, {"--config", p.config, recorded.Config},
		{"--root", p.root, recorded.Root}, {"--logs", p.logs, recorded.Logs},
	}
	place := rollout.Place{}
	if recorded.Place != nil {
		place = *recorded.Place
	}
	return append(append(paths, p.ofPlace(place)...), recordedPaths("--topology", p.topology, nil)...)
}

// ofEntrypoint are the paths of an entrypoint's run.
func (p pipelinePaths) ofEntrypoint(recorded entrypoint.Inputs) []recordedPath {
	paths := []recordedPath{
		{"--pipeline", p.pipeline, ""}, {"--config", p.config, recorded.Config}, {"--root", p.root, recorded.Root},
		{"--logs", p.logs, recorded.Logs},
	}
	return append(append(paths, p.ofPlace(recorded.Place)...),
		recordedPaths("--topology", p.topology, recorded.Topology)...)
}

func (p pipelinePaths) ofPlace(recorded rollout.Place) []recordedPath {
	return append([]recordedPath{{"--values", p.values, recorded.Values}},
		recordedPaths("--overlay", p.overlays, recorded.Overlays)...)
}

// confirm compares the paths that a record names with what the operator gave. The record is memory, never authority: a
// file of the working tree is what the operator has before them, and any other has to be named once more. Nothing is
// opened before.
func (p pipelinePaths) confirm(a *app, from *journalFlags, run string, paths []recordedPath) error {
	tree, err := filepath.Abs(".")
	if err != nil {
		return fmt.Errorf("finding the working folder: %w", err)
	}
	usual, err := a.logs(from)
	if err != nil && p.logs == "" {
		return err
	}
	var missing []string
	for _, path := range paths {
		switch {
		case path.given != "":
			if given, err := filepath.Abs(path.given); err != nil || !samePath(given, path.recorded) {
				return usage("conflict: %s %q is not what run %q was started with: %q", path.flag, path.given, run, path.recorded)
			}
		case path.recorded != "" && !inside(tree, path.recorded) &&
			(path.flag != "--logs" || usual == "" || !samePath(usual, path.recorded)):
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
