package cli

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/utils/clock"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/internal/pipeline/deployment"
)

// soundSteps are the steps of a pipeline of which nothing wrong was found, whatever is wrong with others. What is no
// YAML of a pipeline's is found before there are steps: it is wrong with the step in whose lines it is.
func soundSteps(file *pipeline.File, found diagnostic.List) []*pipeline.Step {
	steps, wrong := file.Steps(), map[string]bool{}
	for _, one := range found {
		if one.Severity != diagnostic.Error {
			continue
		}
		wrong[one.Step] = true
		if !strings.HasPrefix(one.Rule, "yaml-") {
			continue
		}
		var around *pipeline.Step
		for _, step := range steps {
			if step.At.Line <= one.Position.Line && (around == nil || step.At.Line > around.At.Line) {
				around = step
			}
		}
		if around != nil {
			wrong[around.ID().String()] = true
		}
	}
	return slices.DeleteFunc(steps, func(step *pipeline.Step) bool { return wrong[step.ID().String()] })
}

// deployable validates what steps of a pipeline deploy, release and register. In the file alone that is what the
// configuration says.
func deployable(
	ctx context.Context, file *pipeline.File, steps []*pipeline.Step, fileOnly bool,
) (found diagnostic.List) {
	renderer := &deployment.Renderer{Folder: file.Folder(), Config: file.Config(), Clock: clock.RealClock{}}
	checks := offlineChecks(file, fileOnly)
	for _, step := range steps {
		switch check := checks[step.Action.Value]; {
		case check != nil:
			found = append(found, undeployable(step, check(ctx, step))...)
		case step.ARM != nil && !fileOnly:
			found = append(found, renderer.Diagnose(ctx, step)...)
		}
	}
	return found
}

// offlineChecks are those of actions that take nothing but the pipeline's files and its configuration, or that alone.
func offlineChecks(file *pipeline.File, fileOnly bool) map[string]func(context.Context, *pipeline.Step) error {
	checks := map[string]func(context.Context, *pipeline.Step) error{
		actionRegisterFeatures:  (&registerAction{config: file.Config(), read: registeredFeatures}).Check,
		actionRegisterProviders: (&registerAction{read: registeredProviders}).Check,
	}
	if !fileOnly {
		helm := &helmAction{folder: file.Folder(), config: file.Config(), unbuilt: file.BuildStep != nil}
		checks[actionHelm] = helm.Check
	}
	return checks
}

// undeployable says what an action has against a step, each at the place of it: in a file that the step names, or in
// the field that the error begins with.
func undeployable(step *pipeline.Step, err error) (all diagnostic.List) {
	var several *invalidFilesError
	if errors.As(err, &several) {
		for _, one := range several.each {
			all = append(all, undeployable(step, one)...)
		}
		return all
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) { // what the build step has yet to make
		return nil
	}
	found := diagnostic.List{{Position: step.At, Severity: diagnostic.Error, Rule: "undeployable", Message: err.Error()}}
	var invalid *invalidFileError
	if errors.As(err, &invalid) {
		found = slices.Clone(invalid.found)
	}
	for i := range found {
		attribute(&found[i], step)
	}
	return found
}

// attribute gives a finding its step, and the place of the field that it begins with.
func attribute(found *diagnostic.Diagnostic, step *pipeline.Step) {
	if strings.HasPrefix(found.Message, "chartDir: ") {
		// A chart is often completed right before the rollout, as by helm dependency build.
		found.Severity = diagnostic.Warning
	}
	for _, field := range step.Fields {
		if strings.HasPrefix(found.Message, field.Path[0]+": ") {
			found.Position = field.At
			break
		}
	}
	found.Step = step.ID().String()
}
