package registrytest

import (
	"archive/tar"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Layout makes an OCI layout in a folder, with an index of two images under a name and something that names it as its
// subject. It gives the digest of the index.
func Layout(t testing.TB, folder, tag string) (digest string) {
	t.Helper()
	path, err := layout.Write(folder, empty.Index)
	must(t, err)
	made, err := random.Index(2<<10, 2, 2)
	must(t, err)
	must(t, path.AppendIndex(made, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag})))
	subject, err := partial.Descriptor(made)
	must(t, err)
	signature, err := random.Image(256, 1)
	must(t, err)
	signature = mutate.MediaType(signature, types.OCIManifestSchema1)
	signature = mutate.ConfigMediaType(signature, "application/vnd.example.signature")
	must(t, path.AppendImage(mutate.Subject(signature, *subject).(v1.Image)))
	return subject.Digest.String()
}

// Archive packs a folder into a tar file.
func Archive(t testing.TB, folder, to string) {
	t.Helper()
	file, err := os.Create(to) //nolint:gosec // G304: the test names it
	must(t, err)
	archive := tar.NewWriter(file)
	must(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path) //nolint:gosec // G304: the test names it
		must(t, err)
		name, err := filepath.Rel(folder, path)
		must(t, err)
		must(t, archive.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o600, Size: int64(len(raw))}))
		_, err = archive.Write(raw)
		return err
	}))
	must(t, archive.Close())
	must(t, file.Close())
}
