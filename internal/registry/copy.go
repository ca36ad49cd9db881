package registry

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"salve/internal/apierr"
)

// Copy copies an image under its digest, with all that it refers to: only what the target lacks travels. A tag that is
// not empty names it there; a tag that names another image is of class conflict, and stays as it is.
func (c *Client) Copy(ctx context.Context, from, to Image, tag string) error {
	if from.Digest != to.Digest {
		return apierr.New(apierr.Terminal, "copying %s to %s: they are two images", from, to)
	}
	got, err := c.get(ctx, from)
	if err != nil {
		return err
	}
	target, options, err := c.at(ctx, to)
	if err != nil {
		return err
	}
	pusher, err := remote.NewPusher(options...)
	if err != nil {
		return fmt.Errorf("copying to %s: %w", to, err)
	}
	if err := pusher.Push(ctx, target, got); err != nil {
		return classified(fmt.Errorf("copying to %s: %w", to, err))
	}
	if tag == "" {
		return nil
	}
	named, err := c.tagged(ctx, to.Registry, to.Repository, tag)
	switch {
	case err != nil:
		return err
	case named == to.Digest:
		return nil
	case named != "":
		return apierr.New(apierr.Conflict, "the tag %s of %s/%s names another image, %s: it stays as it is", tag, to.Registry,
			to.Repository, named)
	}
	reference, err := name.NewTag(to.Registry+"/"+to.Repository+":"+tag, name.StrictValidation)
	if err != nil {
		return apierr.New(apierr.Terminal, "tag %q: %w", tag, err)
	}
	if err := pusher.Push(ctx, reference, got); err != nil {
		return classified(fmt.Errorf("tagging %s as %s: %w", to, tag, err))
	}
	return nil
}
