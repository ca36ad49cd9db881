package mirrorimage

import (
	"context"
	"fmt"
	"time"

	"salve/internal/apierr"
	"salve/internal/registry"
	"salve/runbook"
)

// side is what a registry has of the image.
type side struct {
	// Found is false when the registry says that it has no such image; the rest is empty then.
	Found     bool                  `json:"found"`
	MediaType string                `json:"mediaType"`
	Size      int64                 `json:"size"`
	Attached  []registry.Attachment `json:"attached"`
}

func (m *mirror) side(ctx context.Context, image registry.Image) (side, error) {
	manifest, err := m.Registries.Manifest(ctx, image)
	if apierr.ClassOf(err) == apierr.Missing {
		return side{Attached: []registry.Attachment{}}, nil
	}
	if err != nil {
		return side{}, err
	}
	attached, err := m.Registries.Attached(ctx, image)
	return side{Found: true, MediaType: manifest.MediaType, Size: manifest.Size, Attached: attached}, err
}

// source is what the source has.
type source struct {
	Image side      `json:"image"`
	Seen  time.Time `json:"seen"`
}

// sourceThere asks whether there is something to copy. A registry says the same of an image that is not there and of a
// repository that the caller may not see.
func (m *mirror) sourceThere() runbook.Guard {
	return runbook.Ask("source-there", "is the image there, under its digest, in the registry that it is copied from?",
		func(ctx context.Context, _ runbook.Run) (source, error) {
			seen, err := m.side(ctx, m.Source)
			return source{Image: seen, Seen: m.Clock.Now()}, err
		}, m.Inputs.sourceThere)
}

func (in Inputs) sourceThere(seen source) runbook.Finding {
	if !seen.Image.Found {
		return runbook.No("%s has no image %s@%s, or the caller may not see it", in.from(), in.Source.Repository,
			in.Source.Digest).WithOutcome(runbook.Failed)
	}
	return runbook.Yes("%s has it, with %s attached", in.from(), things(len(seen.Image.Attached))).
		WithEvidence(evidence(in.Source, seen.Image, seen.Seen))
}

// both is what the two registries have.
type both struct {
	Source side `json:"source"`
	Target side `json:"target"`
	// Tagged is what the target has under the tag that the image is to have; empty where it is to have none, or has none.
	Tagged string    `json:"tagged"`
	Seen   time.Time `json:"seen"`
}

func (m *mirror) both(ctx context.Context) (seen both, err error) {
	if seen.Source, err = m.side(ctx, m.Source); err != nil {
		return seen, err
	}
	if seen.Target, err = m.side(ctx, m.Target); err != nil {
		return seen, err
	}
	seen.Tagged, err = m.tagged(ctx)
	seen.Seen = m.Clock.Now()
	return seen, err
}

// tagged is what the target has under the tag that the image is to have.
func (m *mirror) tagged(ctx context.Context) (digest string, err error) {
	if m.Tag == "" {
		return "", nil
	}
	digest, err = m.Registries.Resolve(ctx, registry.Reference{
		Registry: m.Target.Registry, Repository: m.Target.Repository, Tag: m.Tag,
	})
	if apierr.ClassOf(err) == apierr.Missing {
		return "", nil
	}
	return digest, err
}

// named tells whether the image has the tag that it is to have.
func (in Inputs) named(tagged string) bool { return in.Tag == "" || tagged == in.Target.Digest }

// mirrored asks whether the target has what the source has.
func (m *mirror) mirrored() runbook.Guard {
	return runbook.Ask("mirrored", "does the target have the image under the same digest, and all that is attached to it?",
		func(ctx context.Context, _ runbook.Run) (both, error) { return m.both(ctx) }, m.Inputs.mirrored)
}

func (in Inputs) mirrored(seen both) runbook.Finding {
	lacking := registry.Lacking(seen.Source.Attached, seen.Target.Attached)
	finding := runbook.Yes("registry %s has it, with %s attached", in.Target.Registry, things(len(seen.Target.Attached)))
	switch {
	case !seen.Source.Found:
		return runbook.No("the image has gone from %s while it was copied, so that nobody can compare",
			in.from()).WithOutcome(runbook.NeedsAttention)
	case !seen.Target.Found:
		return runbook.No("registry %s has no image %s@%s", in.Target.Registry, in.Target.Repository, in.Target.Digest).
			WithOutcome(runbook.NeedsAttention)
	case seen.Source.MediaType != seen.Target.MediaType || seen.Source.Size != seen.Target.Size:
		finding = runbook.No("the registries show %s of %d bytes and %s of %d bytes under one digest", seen.Source.MediaType,
			seen.Source.Size, seen.Target.MediaType, seen.Target.Size).WithOutcome(runbook.NeedsAttention)
	case len(lacking) > 0:
		finding = runbook.No("registry %s lacks %s that are attached in %s, such as %s", in.Target.Registry,
			things(len(lacking)), in.from(), lacking[0].Digest).WithOutcome(runbook.NeedsAttention)
	case !in.named(seen.Tagged):
		finding = runbook.No("in registry %s the tag %s names %s, and not the image", in.Target.Registry, in.Tag,
			orNothing(seen.Tagged)).WithOutcome(runbook.NeedsAttention)
	}
	return finding.WithEvidence(evidence(in.Target, seen.Target, seen.Seen))
}

func evidence(image registry.Image, seen side, at time.Time) runbook.Evidence {
	return runbook.NewEvidence("registry "+image.Registry, image.Digest, at, map[string]any{
		"mediaType": seen.MediaType, "size": seen.Size, "attached": len(seen.Attached),
	})
}

func orNothing(digest string) string {
	if digest == "" {
		return "nothing"
	}
	return digest
}

func things(count int) string {
	switch count {
	case 0:
		return "nothing"
	case 1:
		return "1 thing"
	}
	return fmt.Sprintf("%d things", count)
}
