package registry

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"salve/internal/apierr"
)

// maxAttached bounds how much may be attached to one image: a list is a stranger's.
const maxAttached = 1000

// Attachment is something that belongs to an image: a signature, an attestation, a list of what is in it.
type Attachment struct {
	Digest string `json:"digest"`
	// Kind is the artifact's media type; empty for one that is found by its tag.
	Kind string `json:"kind"`
	// Tag is the name by which it is found, in the way of cosign; empty for one that names the image as its subject.
	Tag string `json:"tag"`
}

// suffixes are those of the tags under which cosign keeps what belongs to an image:
// https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
func suffixes() []string { return []string{"sig", "att", "sbom"} }

// Attached lists what is attached to an image, by subject and by tag, sorted: to the images of an index too, each of
// which may be signed by itself, and to what is attached, as a signature is to a list of what is in the image.
func (c *Client) Attached(ctx context.Context, image Image) ([]Attachment, error) {
	children, err := c.children(ctx, image)
	if err != nil {
		return nil, err
	}
	all, subjects := []Attachment{}, append([]string{image.Digest}, children...)
	known := map[string]bool{}
	for ; len(subjects) > 0; subjects = subjects[1:] {
		if known[subjects[0]] {
			continue
		}
		known[subjects[0]] = true
		subject := image
		subject.Digest = subjects[0]
		found, err := c.attachedTo(ctx, subject)
		if err != nil {
			return nil, err
		}
		if all = append(all, found...); len(all) > maxAttached {
			return nil, apierr.New(apierr.Terminal, "%d things are attached to image %s, and at most %d are read", len(all),
				image, maxAttached)
		}
		for _, one := range found {
			subjects = append(subjects, one.Digest)
		}
	}
	slices.SortFunc(all, func(a, b Attachment) int {
		return strings.Compare(a.Tag+" "+a.Digest, b.Tag+" "+b.Digest)
	})
	return slices.CompactFunc(all, func(a, b Attachment) bool { return a.Digest == b.Digest && a.Tag == b.Tag }), nil
}

// children are the images that an index names, and those of an index within it; none of a single image.
func (c *Client) children(ctx context.Context, image Image) ([]string, error) {
	all, known := []string{image.Digest}, map[string]bool{image.Digest: true}
	indexes := []string{image.Digest}
	for ; len(indexes) > 0; indexes = indexes[1:] {
		index := image
		index.Digest = indexes[0]
		got, err := c.get(ctx, index)
		if err != nil {
			return nil, err
		}
		if !got.MediaType.IsIndex() {
			continue
		}
		manifest, err := v1.ParseIndexManifest(bytes.NewReader(got.Manifest))
		if err != nil {
			return nil, apierr.New(apierr.Terminal, "reading index %s: %w", index, err)
		}
		for _, one := range manifest.Manifests {
			digest := one.Digest.String()
			if known[digest] {
				continue
			}
			known[digest] = true
			if all = append(all, digest); len(all) > maxAttached {
				return nil, apierr.New(apierr.Terminal, "index %s names more than %d images", image, maxAttached)
			}
			if one.MediaType.IsIndex() {
				indexes = append(indexes, digest)
			}
		}
	}
	return all[1:], nil
}

// attachedTo lists what names one manifest as its subject, or has a tag that is made of its digest.
func (c *Client) attachedTo(ctx context.Context, image Image) ([]Attachment, error) {
	reference, options, err := c.at(ctx, image)
	if err != nil {
		return nil, err
	}
	index, err := remote.Referrers(reference, options...)
	if err != nil {
		return nil, classified(fmt.Errorf("listing what refers to %s: %w", image, err))
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, classified(fmt.Errorf("listing what refers to %s: %w", image, err))
	}
	all := []Attachment{}
	for _, one := range manifest.Manifests {
		all = append(all, Attachment{Digest: one.Digest.String(), Kind: one.ArtifactType})
	}
	for _, suffix := range suffixes() {
		tag := strings.Replace(image.Digest, ":", "-", 1) + "." + suffix
		digest, err := c.tagged(ctx, image.Registry, image.Repository, tag)
		if err != nil {
			return nil, err
		}
		if digest != "" {
			all = append(all, Attachment{Digest: digest, Tag: tag})
		}
	}
	return all, nil
}

// Lacking are the attachments of a first list that a second one has not.
func Lacking(wanted, there []Attachment) []Attachment {
	return slices.DeleteFunc(slices.Clone(wanted), func(one Attachment) bool {
		return slices.ContainsFunc(there, func(other Attachment) bool {
			return other.Digest == one.Digest && other.Tag == one.Tag
		})
	})
}
