package mirrorimage

import (
	"context"
	"fmt"

	"salve/internal/apierr"
	"salve/internal/registry"
)

// Preview says what a run would copy, and changes nothing.
func Preview(ctx context.Context, world World, in Inputs) (string, error) {
	if err := in.validate(); err != nil {
		return "", err
	}
	seen, err := (&mirror{World: world, Inputs: in}).both(ctx)
	if err != nil {
		return "", err
	}
	lacking := registry.Lacking(seen.Source.Attached, seen.Target.Attached)
	switch {
	case !seen.Source.Found:
		return "", apierr.New(apierr.Missing, "not found: %s has no image %s@%s, or the caller may not see it", in.from(),
			in.Source.Repository, in.Source.Digest)
	case seen.Tagged != "" && !in.named(seen.Tagged):
		return "", fmt.Errorf("the tag %s of %s/%s names another image, %s: it would stay as it is", in.Tag,
			in.Target.Registry, in.Target.Repository, seen.Tagged)
	case !seen.Target.Found:
		return fmt.Sprintf("copies %s to %s, with %s attached", in.what(), in.Target.Registry, things(len(lacking))), nil
	case len(lacking) > 0:
		return fmt.Sprintf("copies %s attached to %s to %s, which has the image", things(len(lacking)), in.what(),
			in.Target.Registry), nil
	}
	if !in.named(seen.Tagged) {
		return fmt.Sprintf("names it %s in registry %s, which has the image", in.Tag, in.Target.Registry), nil
	}
	return fmt.Sprintf("registry %s has it already: nothing would be copied", in.Target.Registry), nil
}
