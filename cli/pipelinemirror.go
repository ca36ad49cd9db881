package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

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
	app    *app
	kept   *journal.Location
	folder string
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
	// What follows is for copyFrom: oci-layout.
	ImageFilePath         string `json:"imageFilePath"`
	ImageTarFileName      string `json:"imageTarFileName"`
	ImageMetadataFileName string `json:"imageMetadataFileName"`
}

// fromLayout is the value of copyFrom for an image in a layout on this machine.
const fromLayout = "oci-layout"

// Capabilities say that the runbook looks by itself what is there: an image has one digest.
func (*mirrorAction) Capabilities() rollout.Capabilities {
	return rollout.Capabilities{Repeatable: true, Ignores: []string{"shellIdentity"}}
}

// Check refuses a way to copy that nobody knows, and what names no image, as far as that is known before the step's
// turn.
func (m *mirrorAction) Check(_ context.Context, step *pipeline.Step) error {
	said, err := mirroredBy(step)
	if err != nil {
		return err
	}
	if said.CopyFrom != "" && said.CopyFrom != fromLayout {
		return fmt.Errorf("copyFrom: %s is not supported: images are mirrored from a registry or an %s", said.CopyFrom,
			fromLayout)
	}
	azure := registry.Azure{RegistrySuffix: cloudSuffixes()[m.cloud.name][0]}
	if said.CopyFrom == fromLayout || said.inPlace(azure) || saidLater(step, "sourceRegistry", "repository", "digest") {
		return nil
	}
	return registry.Image{Registry: said.SourceRegistry, Repository: said.Repository, Digest: said.Digest}.Validate()
}

// mirroredBy is what a step says, as far as that is known before its turn.
func mirroredBy(step *pipeline.Step) (said mirrored, err error) {
	values := make([]any, 0, len(step.Fields))
	for _, field := range step.Fields {
		values = append(values, field.Literal)
	}
	return said, step.Decode(values, &said)
}

// saidLater tells that what one of a step's fields holds is not known before its turn.
func saidLater(step *pipeline.Step, names ...string) bool {
	return slices.ContainsFunc(step.Fields, func(field pipeline.Field) bool {
		return field.Literal == nil && slices.Contains(names, field.Path[0])
	})
}

// inPlace tells that an image is copied from the registry that it is to be in. As for rollout tools, there is nothing
// to do then, whichever image it is; they compare before they look at the repository and the digest:
// https://github.com/Azure/ARO-Tools/blob/main/pipelines/types/on-demand.sh
func (s mirrored) inPlace(azure registry.Azure) bool {
	return s.CopyFrom != fromLayout && s.SourceRegistry != "" && s.TargetACR != "" &&
		s.SourceRegistry == azure.Host(s.TargetACR)
}

// nothingToMirror is why such a step does nothing.
const nothingToMirror = "nothing is to be mirrored: source and target are the same registry"

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
	if in.Source.Registry == in.Target.Registry {
		return rollout.Outcome{Result: journal.Done, Reason: nothingToMirror}, nil
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
	case in.Source.Registry == in.Target.Registry:
		return nothingToMirror, nil
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
	if step.CopyFrom == fromLayout {
		var layout *registry.Layout
		if layout, err = m.layout(step, &in); err != nil {
			return world, in, err
		}
		transport = layout.Over(transport)
	}
	in.Target = registry.Image{Registry: azure.Host(step.TargetACR), Repository: step.Repository, Digest: in.Source.Digest}
	if in.Source.Registry != in.Target.Registry {
		if _, err := mirrorimage.Replayed(in, runbook.Target{}); err != nil {
			return world, in, err
		}
	}
	login := func(ctx context.Context, host string) (authn.Authenticator, error) {
		switch {
		case host == registry.LayoutHost, host == in.Source.Registry && step.PublicSource:
			return authn.Anonymous, nil
		case host == in.Source.Registry && step.PullSecretName != "":
			return azure.PullSecret(ctx, step.PullSecretKeyVault, step.PullSecretName, host)
		}
		return m.login(ctx, azure, host)
	}
	return mirrorimage.World{Registries: registry.New(transport, login), Clock: clock.Real{}}, in, nil
}

// layout opens the layout that a step copies from. As for rollout tools, the metadata file beside it says under which
// name the image is in it, and that name is its tag in the target.
func (m *mirrorAction) layout(step mirrored, in *mirrorimage.Inputs) (*registry.Layout, error) {
	folder := step.ImageFilePath
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(m.folder, folder)
	}
	path := filepath.Join(folder, step.ImageMetadataFileName)
	content, err := pipeline.ReadNamed(path)
	if err != nil {
		return nil, fmt.Errorf("imageMetadataFileName: %w", err)
	}
	var metadata struct {
		BuildTag string `json:"build_tag"`
	}
	if err := json.Unmarshal(content, &metadata); err != nil {
		return nil, fmt.Errorf("imageMetadataFileName: %s is no JSON: %w", path, err)
	}
	if metadata.BuildTag == "" {
		return nil, fmt.Errorf("imageMetadataFileName: %s has no build_tag", path)
	}
	in.Layout, in.Tag = filepath.Join(folder, step.ImageTarFileName), metadata.BuildTag
	layout, err := registry.OpenLayout(in.Layout)
	if err != nil {
		return nil, fmt.Errorf("imageTarFileName: %w", err)
	}
	in.Source = registry.Image{Registry: registry.LayoutHost, Repository: step.Repository}
	if in.Source.Digest, err = layout.Digest(in.Tag); err != nil {
		return nil, fmt.Errorf("layout %s: %w", in.Layout, err)
	}
	return layout, nil
}
