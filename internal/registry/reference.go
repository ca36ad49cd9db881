package registry

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"salve/internal/apierr"
)

// scheme begins references to what is in a registry and no image, such as charts.
const scheme = "oci://"

// Reference is something in a registry, by a tag, by its digest, or by both: then the digest counts.
type Reference struct {
	Registry, Repository, Tag, Digest string
}

// ParseReference reads oci://HOST/REPOSITORY:TAG, …@sha256:DIGEST, or both. One that has neither is an error: which of
// all versions is meant is not to be guessed.
func ParseReference(text string) (Reference, error) {
	rest, found := strings.CutPrefix(text, scheme)
	host, path, inside := strings.Cut(rest, "/")
	if !found || !inside {
		return Reference{}, fmt.Errorf("reference %q: it must be oci://HOST/REPOSITORY:TAG or …@sha256:DIGEST", text)
	}
	read := Reference{Registry: host}
	path, read.Digest, _ = strings.Cut(path, "@")
	read.Repository, read.Tag, _ = strings.Cut(path, ":")
	read.Tag = strings.ReplaceAll(read.Tag, "+", "_") // https://github.com/helm/helm/issues/10166
	if read.Tag == "" && read.Digest == "" {
		return Reference{}, fmt.Errorf("reference %q: it needs a tag or a digest. hint: %s:VERSION", text, text)
	}
	if read.Tag != "" {
		if _, err := name.NewTag(host+"/"+read.Repository+":"+read.Tag, name.StrictValidation); err != nil {
			return Reference{}, fmt.Errorf("reference %q: %w", text, err)
		}
	}
	image := read.Image()
	if image.Digest == "" {
		image.Digest = "sha256:" + strings.Repeat("0", 64)
	}
	if err := image.Validate(); err != nil {
		return Reference{}, fmt.Errorf("reference %q: %w", text, err)
	}
	return read, nil
}

// Image is what the reference names by digest; without one its digest is empty.
func (r Reference) Image() Image {
	return Image{Registry: r.Registry, Repository: r.Repository, Digest: r.Digest}
}

// Resolve gives the digest of what a reference names now. It is of class missing where there is no such tag.
func (c *Client) Resolve(ctx context.Context, reference Reference) (digest string, err error) {
	if reference.Digest != "" {
		return reference.Digest, nil
	}
	digest, err = c.tagged(ctx, reference.Registry, reference.Repository, reference.Tag)
	if err == nil && digest == "" {
		return "", apierr.New(apierr.Missing, "registry %s has no tag %s of %s, or the caller may not see it",
			reference.Registry, reference.Tag, reference.Repository)
	}
	return digest, err
}

// Artifact says what is read of something that is no image: its one layer of some kinds, of no more than some bytes.
type Artifact struct {
	// Config is the media type of what it is.
	Config string
	Layers []string
	// Largest bounds the layer.
	Largest int64
}

// Layer reads the layer of an artifact, whose bytes have the digest that its manifest says.
func (c *Client) Layer(ctx context.Context, image Image, wanted Artifact) ([]byte, error) {
	got, err := c.get(ctx, image)
	if err != nil {
		return nil, err
	}
	made, err := got.Image()
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "reading %s: %w", image, err)
	}
	manifest, err := made.Manifest()
	if err != nil {
		return nil, classified(fmt.Errorf("reading %s: %w", image, err))
	}
	if kind := string(manifest.Config.MediaType); kind != wanted.Config {
		return nil, apierr.New(apierr.Terminal, "%s is of type %q, and not %q", image, kind, wanted.Config)
	}
	layers := slices.DeleteFunc(slices.Clone(manifest.Layers), func(layer v1.Descriptor) bool {
		return !slices.Contains(wanted.Layers, string(layer.MediaType))
	})
	switch {
	case len(layers) != 1:
		return nil, apierr.New(apierr.Terminal, "%s has %d layers of the types %s, and must have one", image, len(layers),
			strings.Join(wanted.Layers, ", "))
	case layers[0].Size > wanted.Largest:
		return nil, apierr.New(apierr.Terminal, "%s has a layer of %d bytes, and at most %d are read", image,
			layers[0].Size, wanted.Largest)
	}
	layer, err := made.LayerByDigest(layers[0].Digest)
	if err != nil {
		return nil, classified(fmt.Errorf("reading %s: %w", image, err))
	}
	opened, err := layer.Compressed()
	if err != nil {
		return nil, classified(fmt.Errorf("reading a layer of %s: %w", image, err))
	}
	defer opened.Close()
	// The library ends with an error where the bytes have another digest or size.
	raw, err := io.ReadAll(io.LimitReader(opened, wanted.Largest+1))
	if err != nil {
		return nil, classified(fmt.Errorf("reading a layer of %s: %w", image, err))
	}
	return raw, nil
}
