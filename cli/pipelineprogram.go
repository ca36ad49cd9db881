package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/actionprogram"
	"salve/internal/pipeline/rollout"
)

// ownActions are those that Salve has itself.
func ownActions() []string {
	return []string{pipeline.ActionShell, pipeline.ActionARM, pipeline.ActionRunbook, pipeline.ActionSoak,
		actionImageMirror, actionHelm, pipeline.ActionStack, actionRegisterFeatures, actionRegisterProviders}
}

// programFlag is the flag for what runs the actions that Salve does not have itself.
func programFlag(flags *pflag.FlagSet, programs *[]string) {
	flags.StringArrayVar(programs, "action", nil,
		"`NAME=PROGRAM` that runs an action (repeatable; default: "+actionprogram.Prefix+
			"NAME in the pipeline's folder or on PATH)")
}

// sitesActions are those that the schema does not have and that a site's own programs run.
type sitesActions struct {
	// named are the programs of --action, by the actions.
	named map[string]string
	// folder is the pipeline's.
	folder string
}

func readSitesActions(programs []string, path string) (sitesActions, error) {
	named, err := actionprogram.ParseNamed(programs)
	if err != nil {
		return sitesActions{}, usage("invalid --action: %v", err)
	}
	return sitesActions{named, filepath.Dir(path)}, nil
}

// has tells whether there is a program for an action, whether or not it can be executed.
func (s sitesActions) has(action string) bool {
	path, err := s.program(action)
	return path != "" || err != nil
}

// program is what runs an action; empty for none.
func (s sitesActions) program(action string) (string, error) {
	found, err := actionprogram.Find(action, s.named[action], s.folder)
	if found == nil {
		return "", err
	}
	return found.Path, nil
}

// findPrograms finds what runs the actions of a pipeline that Salve does not have itself. An action without a program
// is not among them.
func (j *pipelineRun) findPrograms(file *pipeline.File, skip []string) (map[string]actionprogram.Program, error) {
	named, err := actionprogram.ParseNamed(j.pipelineRequest.programs)
	if err != nil {
		return nil, usage("invalid --action: %v", err)
	}
	found, used := map[string]actionprogram.Program{}, map[string]bool{}
	for _, step := range file.Steps() {
		action := step.Action.Value
		used[action] = true
		if _, known := found[action]; known || slices.Contains(ownActions(), action) || slices.Contains(skip, action) {
			continue
		}
		program, err := actionprogram.Find(action, named[action], file.Folder())
		if err != nil {
			return nil, usage("%v", err)
		}
		if program != nil {
			found[action] = *program
		}
	}
	for _, action := range slices.Sorted(maps.Keys(named)) {
		switch {
		case slices.Contains(ownActions(), action):
			return nil, usage("invalid --action %s: Salve runs this action itself", action)
		case !used[action]:
			return nil, usage("invalid --action %s: no step of %s has this action%s", action, file.Path,
				suggestion(diagnostic.DidYouMean(action, slices.Sorted(maps.Keys(used)))))
		}
	}
	return found, nil
}

func suggestion(advice string) string {
	if advice == "" {
		return ""
	}
	return "; " + advice
}

// digests stand for the programs in the digest of a run: it is resumed with the same ones, or not at all.
func digests(programs map[string]actionprogram.Program) string {
	var all strings.Builder
	for _, action := range slices.Sorted(maps.Keys(programs)) {
		fmt.Fprintf(&all, "\naction %s %s", action, programs[action].SHA256)
	}
	return all.String()
}

// programActions are the actions that programs run.
func (j *pipelineRun) programActions() map[string]rollout.Action {
	actions := map[string]rollout.Action{}
	for action, program := range j.programs {
		actions[action] = &actionprogram.Action{
			Program: program, Folder: j.plan.File.Folder(), Environment: j.app.environment, Pass: j.plan.Inputs.Pass,
			Grace: j.plan.Inputs.Grace, Clock: clock.RealClock{},
		}
	}
	return actions
}
