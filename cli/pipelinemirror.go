package cli

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/internal/registry"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/mirrorimage"
)

// actionImageMirror is run by a runbook: each step by a run of its own in the same journal.
const actionImageMirror = "ImageMirror"

// mirrorAction mirrors the images of ImageMirror steps.
type mirrorAction struct {
	registryAccess
	app  *app
	kept *journal.Location
}

// mirrored is what an ImageMirror step says, with values in the place of references.
type mirrored struct {
	TargetACR          string `json:"targetACR"`
	SourceRegistry     string `json:"sourceRegistry"`
	Repository         string `json:"repository"`
	Digest             string `json:"digest"`
	CopyFrom           string `json:"copyFrom"`
	PublicSource       bool   `json:"publicSource"`
	PullSecretKeyVault string `json:"pullSecretKeyVault"`
	PullSecretName     string `json:"pullSecretName"`
}

// Capabilities say that the runbook looks by itself what is there: an image has one digest.
func (*mirrorAction) Capabilities() rollout.Capabilities {
	return rollout.Capabilities{Repeatable: true}
}

// Check refuses what is not mirrored from a registry.
func (*mirrorAction) Check(_ context.Context, step *pipeline.Step) error {
	for _, field := range step.Fields {
		if field.Name.Value == "copyFrom" && field.Plain() != "" {
			return fmt.Errorf("copyFrom: %s is not supported: images are mirrored from a registry", field.Plain())
		}
	}
	return nil
}

// Run mirrors what lacks.
func (m *mirrorAction) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	outcome, err := m.run(ctx, attempt)
	if err != nil {
		return rollout.Outcome{Result: journal.Failure, Reason: err.Error()}
	}
	return outcome
}

func (m *mirrorAction) run(ctx context.Context, attempt *rollout.Attempt) (rollout.Outcome, error) {
	world, in, err := m.asked(attempt)
	if err != nil {
		return rollout.Outcome{}, err
	}
	if in.Source == in.Target {
		return rollout.Outcome{Result: journal.Done, Reason: "the source is the target"}, nil
	}
	book, err := mirrorimage.New(world, in)
	if err != nil {
		return rollout.Outcome{}, err
	}
	result, err := m.app.stepEngine(attempt, m.kept, world.Clock).Run(ctx, book, engine.Options{})
	if err != nil {
		return rollout.Outcome{}, err
	}
	outcome := rollout.Outcome{
		Result: journal.Failure, Reason: fmt.Sprintf("%s: %s (run %s)", result.Outcome, result.Reason, result.Run),
	}
	if result.Outcome == runbook.Remediated {
		outcome = rollout.Outcome{Result: journal.Done, Reason: fmt.Sprintf("mirrored to %s (run %s)", in.Target, result.Run)}
	}
	return outcome, nil
}

// Preview compares the two registries.
func (m *mirrorAction) Preview(ctx context.Context, attempt *rollout.Attempt) (string, error) {
	world, in, err := m.asked(attempt)
	switch {
	case err != nil:
		return "", err
	case in.Source == in.Target:
		return "the source is the target: nothing would be copied", nil
	}
	return mirrorimage.Preview(ctx, world, in)
}

// asked is what a step asks for.
func (m *mirrorAction) asked(attempt *rollout.Attempt) (world mirrorimage.World, in mirrorimage.Inputs, err error) {
	var step mirrored
	if err := attempt.Decode(&step); err != nil {
		return world, in, err
	}
	azure, transport, err := m.azure()
	if err != nil {
		return world, in, err
	}
	in.Source = registry.Image{Registry: step.SourceRegistry, Repository: step.Repository, Digest: step.Digest}
	in.Target = registry.Image{Registry: azure.Host(step.TargetACR), Repository: step.Repository, Digest: step.Digest}
	if in.Source != in.Target {
		if _, err := mirrorimage.Replayed(in, runbook.Target{}); err != nil {
			return world, in, err
		}
	}
	login := func(ctx context.Context, host string) (authn.Authenticator, error) {
		switch {
		case host == in.Source.Registry && step.PublicSource:
			return authn.Anonymous, nil
		case host == in.Source.Registry && step.PullSecretName != "":
			return azure.PullSecret(ctx, step.PullSecretKeyVault, step.PullSecretName, host)
		}
		return m.login(ctx, azure, host)
	}
	return mirrorimage.World{Registries: registry.New(transport, login), Clock: clock.Real{}}, in, nil
}
