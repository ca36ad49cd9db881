package mirrorimage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"salve/internal/clock"
	"salve/internal/registry"
	"salve/runbook"
)

// Name is the runbook's name in journals.
const Name = "mirror-image"

// Inputs name the image and where it is to be. They are journaled.
type Inputs struct {
	// Source and Target have the same digest.
	Source registry.Image `json:"source"`
	Target registry.Image `json:"target"`
	// Layout is the path of the OCI layout that the source is; empty for a registry.
	Layout string `json:"layout,omitempty"`
	// Tag names the image in the target; empty for one that is made of its digest, on which nothing relies.
	Tag string `json:"tag,omitempty"`
}

// from is what messages call the source.
func (in Inputs) from() string {
	if in.Layout != "" {
		return "layout " + in.Layout
	}
	return "registry " + in.Source.Registry
}

// what is the image as messages name it.
func (in Inputs) what() string {
	if in.Layout != "" {
		return in.Layout + " (" + in.Source.Digest + ")"
	}
	return in.Source.String()
}

// Registries are what the runbook asks of them.
type Registries interface {
	Manifest(ctx context.Context, image registry.Image) (registry.Manifest, error)
	Attached(ctx context.Context, image registry.Image) ([]registry.Attachment, error)
	// Resolve gives the digest of a tag; of class missing where there is none.
	Resolve(ctx context.Context, reference registry.Reference) (string, error)
	Copy(ctx context.Context, from, to registry.Image, tag string) error
}

// World is what the runbook acts on.
type World struct {
	Registries Registries
	Clock      clock.Clock
}

// budget bounds a run: images of gigabytes take their time.
const budget = 2 * time.Hour

func (in Inputs) validate() error {
	if err := errors.Join(in.Source.Validate(), in.Target.Validate()); err != nil {
		return err
	}
	if in.Tag != "" {
		named := "oci://" + in.Target.Registry + "/" + in.Target.Repository + ":" + in.Tag
		if _, err := registry.ParseReference(named); err != nil {
			return err
		}
	}
	switch {
	case in.Source.Digest != in.Target.Digest:
		return fmt.Errorf("the source has digest %s and the target %s: a mirror holds the same image", in.Source.Digest,
			in.Target.Digest)
	case (in.Layout != "") != (in.Source.Registry == registry.LayoutHost):
		return fmt.Errorf("image %s: the host %s is that of layouts, and no registry's", in.Source, registry.LayoutHost)
	case in.Target.Registry == registry.LayoutHost:
		return fmt.Errorf("image %s: a layout is no target", in.Target)
	case in.Source == in.Target:
		return fmt.Errorf("image %s: the source is the target", in.Source)
	}
	return nil
}

// New makes the runbook for one image.
func New(world World, in Inputs) (runbook.Runbook, error) {
	if err := in.validate(); err != nil {
		return runbook.Runbook{}, err
	}
	return (&mirror{World: world, Inputs: in}).book(), nil
}

// Replayed makes the runbook for its decisions alone, as a replay makes it.
func Replayed(in Inputs, _ runbook.Target) (runbook.Runbook, error) {
	if err := in.validate(); err != nil {
		return runbook.Runbook{}, err
	}
	return (&mirror{Inputs: in}).book(), nil
}

// mirror is the runbook at work.
type mirror struct {
	World
	Inputs
}

func (m *mirror) book() runbook.Runbook {
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: m.Inputs, Budget: budget,
		Target: runbook.Target{Kind: "container image", ID: m.Target.String(), Name: m.Target.Repository},
		Guards: []runbook.Guard{m.sourceThere()},
		Steps:  []runbook.Step{m.copyImage(), m.copyAttached()},
		Checks: []runbook.Guard{m.mirrored()},
		Remaining: func(func(string) bool) string {
			return "what was copied stays in " + m.Target.Registry + ", and harms nobody: it is named by digest"
		},
	}
}
