package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is nobody else's: the number that images without root agree on.
const user = "65532"

// rootsPath is the first place where Go looks for roots on Linux.
const rootsPath = "etc/ssl/certs/ca-certificates.crt"

// licensesPath is where Debian and others look for the terms of a package.
const licensesPath = "usr/share/doc/salve/"

// index is the image for all architectures.
func (r release) index() (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range slices.Sorted(maps.Keys(r.programs)) {
		image, err := r.image(architecture)
		if err != nil {
			return nil, fmt.Errorf("image for %s: %w", architecture, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	return mutate.Annotations(index, r.labels()).(v1.ImageIndex), nil
}

func (r release) image(architecture string) (v1.Image, error) {
	program, err := os.ReadFile(r.programs[architecture])
	if err != nil {
		return nil, err
	}
	content, err := r.layer(program)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer: layer, History: v1.History{CreatedBy: "tools/release", Created: v1.Time{Time: r.created}},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", architecture, v1.Time{Time: r.created}
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/salve"}, User: user + ":" + user, WorkingDir: "/home/salve",
		Env:    []string{"PATH=/usr/bin", "HOME=/home/salve", "SSL_CERT_FILE=/" + rootsPath},
		Labels: r.labels(),
	}
	return mutate.ConfigFile(image, config)
}

// labels are those of https://github.com/opencontainers/image-spec/blob/main/annotations.md
func (r release) labels() map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":    "salve",
		"org.opencontainers.image.version":  r.Version,
		"org.opencontainers.image.revision": r.Commit,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	if r.source != "" {
		labels["org.opencontainers.image.source"] = r.source
	}
	return labels
}

// entry is a file in the image, or a folder, whose name ends with a slash.
type entry struct {
	name    string
	mode    int64
	owner   int
	content []byte
}

func (r release) layer(program []byte) ([]byte, error) {
	const owner = 65532
	entries := []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, content: []byte("salve:x:" + user + ":\n")},
		{name: "etc/passwd", mode: 0o644, content: []byte("salve:x:" + user + ":" + user + "::/home/salve:/\n")},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: rootsPath, mode: 0o644, content: roots()},
		{name: "home/", mode: 0o755},
		{name: "home/salve/", mode: 0o700, owner: owner},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/bin/salve", mode: 0o755, content: program},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
		{name: licensesPath, mode: 0o755},
	}
	for _, name := range slices.Sorted(maps.Keys(r.licenses)) {
		entries = append(entries, entry{name: licensesPath + name, mode: 0o644, content: r.licenses[name]})
	}
	return r.archive(entries)
}

func (r release) archive(entries []entry) ([]byte, error) {
	var content bytes.Buffer
	archive := tar.NewWriter(&content)
	for _, one := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: one.name, Size: int64(len(one.content)), Mode: one.mode,
			Uid: one.owner, Gid: one.owner, ModTime: r.created, Format: tar.FormatPAX,
		}
		if one.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(one.content); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return content.Bytes(), err
}

// roots are the public certificate authorities that Mozilla trusts, in PEM. One that is trusted under a condition is
// left out: PEM has no way to say it.
func roots() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			// A buffer takes everything.
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return text.Bytes()
}

// writeLayout makes the layout anew, and gives the image's digest.
func writeLayout(index v1.ImageIndex, into string) (digest string, err error) {
	if err := os.RemoveAll(into); err != nil {
		return "", err
	}
	path, err := layout.Write(into, empty.Index)
	if err != nil {
		return "", err
	}
	if err := path.AppendIndex(index); err != nil {
		return "", fmt.Errorf("writing %s: %w", into, err)
	}
	hash, err := index.Digest()
	return hash.String(), err
}
