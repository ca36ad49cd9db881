package registrytest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"salve/internal/registry"
)

// Serve serves an empty registry for a test, and gives its host. A middleware, where there is one, gets each request
// first.
func Serve(t testing.TB, middleware func(http.Handler) http.Handler) (host string) {
	t.Helper()
	handler := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)), ggcr.WithReferrersSupport(true))
	if middleware != nil {
		handler = middleware(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// Push makes an image, or an index of two of them, of random layers, and pushes it.
func Push(t testing.TB, host, repository string, index bool) registry.Image {
	t.Helper()
	var made remote.Taggable
	var hash v1.Hash
	if index {
		built, err := random.Index(2<<10, 2, 2)
		must(t, err)
		hash, err = built.Digest()
		must(t, err)
		made = built
	} else {
		built, err := random.Image(2<<10, 3)
		must(t, err)
		hash, err = built.Digest()
		must(t, err)
		made = built
	}
	image := registry.Image{Registry: host, Repository: repository, Digest: hash.String()}
	reference, err := name.NewDigest(image.String())
	must(t, err)
	must(t, remote.Push(reference, made))
	return image
}

// PushArtifact pushes one layer that is no image's, under a tag, and gives its digest.
func PushArtifact(t testing.TB, host, repository, tag, config, kind string, layer []byte) registry.Image {
	t.Helper()
	made, err := mutate.Append(empty.Image, mutate.Addendum{Layer: static.NewLayer(layer, types.MediaType(kind))})
	must(t, err)
	made = mutate.ConfigMediaType(mutate.MediaType(made, types.OCIManifestSchema1), types.MediaType(config))
	hash, err := made.Digest()
	must(t, err)
	reference, err := name.NewTag(host + "/" + repository + ":" + tag)
	must(t, err)
	must(t, remote.Write(reference, made))
	return registry.Image{Registry: host, Repository: repository, Digest: hash.String()}
}

// Attach pushes something that names the image as its subject, or that is found by a tag where that isn't empty.
func Attach(t testing.TB, to registry.Image, tag string) (digest string) {
	t.Helper()
	subject, err := remote.Get(mustDigest(t, to))
	must(t, err)
	made, err := random.Image(256, 1)
	must(t, err)
	made = mutate.MediaType(made, types.OCIManifestSchema1)
	made = mutate.ConfigMediaType(made, "application/vnd.example.signature")
	if tag == "" {
		made = mutate.Subject(made, subject.Descriptor).(v1.Image)
	}
	hash, err := made.Digest()
	must(t, err)
	var reference name.Reference = mustDigest(t, registry.Image{
		Registry: to.Registry, Repository: to.Repository, Digest: hash.String()})
	if tag != "" {
		reference, err = name.NewTag(to.Registry + "/" + to.Repository + ":" + tag)
		must(t, err)
	}
	must(t, remote.Write(reference, made))
	return hash.String()
}

// Children are the images that an index names.
func Children(t testing.TB, index registry.Image) (images []registry.Image) {
	t.Helper()
	got, err := remote.Index(mustDigest(t, index))
	must(t, err)
	manifest, err := got.IndexManifest()
	must(t, err)
	for _, one := range manifest.Manifests {
		child := index
		child.Digest = one.Digest.String()
		images = append(images, child)
	}
	return images
}

func mustDigest(t testing.TB, image registry.Image) name.Digest {
	t.Helper()
	reference, err := name.NewDigest(image.String())
	must(t, err)
	return reference
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
