package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

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

// dockerConfig is the variable by which docker's programs find credentials. It is passed on by name alone.
const dockerConfig = "DOCKER_CONFIG"

// mirrorAction mirrors the images of ImageMirror steps.
type mirrorAction struct {
	app   *app
	kept  *journal.Location
	cloud cloudFlags
	pass  []string
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
		case azure.Owns(host):
			return azure.Login(ctx, host)
		}
		return m.passedOn(host)
	}
	return mirrorimage.World{Registries: registry.New(transport, login), Clock: clock.Real{}}, in, nil
}

// passedOn is what the docker configuration of whoever runs this says of a host, where that is passed on.
func (m *mirrorAction) passedOn(host string) (authn.Authenticator, error) {
	if !slices.Contains(m.pass, dockerConfig) {
		return authn.Anonymous, nil
	}
	where, err := name.NewRegistry(host)
	if err != nil {
		return nil, err
	}
	return authn.DefaultKeychain.Resolve(where)
}

// azure reaches the registries and vaults of the cloud. It makes no call.
func (m *mirrorAction) azure() (registry.Azure, http.RoundTripper, error) {
	credential, options, err := m.cloud.credential()
	if err != nil {
		return registry.Azure{}, nil, err
	}
	suffixes := map[string][2]string{
		"public": {"azurecr.io", "vault.azure.net"}, "china": {"azurecr.cn", "vault.azure.cn"},
		"usgov": {"azurecr.us", "vault.usgovcloudapi.net"},
	}[m.cloud.name]
	var transport http.RoundTripper
	if client, ok := options.Transport.(*http.Client); ok && client != nil {
		transport = client.Transport
	}
	return registry.Azure{
		Transport: transport, RegistrySuffix: suffixes[0], VaultSuffix: suffixes[1],
		Token: func(ctx context.Context, scope string) (string, error) {
			token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
			if err != nil {
				return "", fmt.Errorf("getting a token for %s: %w", strings.TrimSuffix(scope, "/.default"), err)
			}
			return token.Token, nil
		},
	}, transport, nil
}
