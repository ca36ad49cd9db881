package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"salve/internal/apierr"
)

// LayoutHost is the host under which a layout is asked as if it were a registry. No request to it leaves the process.
const LayoutHost = "oci-layout.local"

// refName is the annotation by which a layout names what is in it:
// https://github.com/opencontainers/image-spec/blob/main/annotations.md
const refName = "org.opencontainers.image.ref.name"

// Layout is an OCI layout on this machine, in a folder or in a tar file. It answers as a registry of one repository
// does, so that what is copied from it is read, compared and sent as from any other.
type Layout struct {
	files layoutFiles
	index v1.IndexManifest
}

// OpenLayout reads what a layout has.
func OpenLayout(path string) (*Layout, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening layout %s: %w", path, err)
	}
	layout := &Layout{files: folderFiles(path)}
	if !info.IsDir() {
		if layout.files, err = readArchive(path); err != nil {
			return nil, fmt.Errorf("opening layout %s: %w", path, err)
		}
	}
	raw, err := layout.read("index.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening layout %s: it has no index.json: it is no OCI layout", path)
	}
	if err == nil {
		err = json.Unmarshal(raw, &layout.index)
	}
	if err != nil {
		return nil, fmt.Errorf("opening layout %s: reading index.json: %w", path, err)
	}
	if len(layout.index.Manifests) > maxAttached {
		return nil, fmt.Errorf("opening layout %s: it has more than %d entries", path, maxAttached)
	}
	return layout, nil
}

// Digest is that of what the layout has under a name.
func (l *Layout) Digest(named string) (string, error) {
	var found []string
	for _, one := range l.index.Manifests {
		if one.Annotations[refName] == named {
			found = append(found, one.Digest.String())
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", apierr.New(apierr.Missing, "the layout has nothing under the name %s; it has %s", named, l.names())
	}
	return "", apierr.New(apierr.Terminal, "the layout has %d images under the name %s", len(found), named)
}

func (l *Layout) names() string {
	var names []string
	for _, one := range l.index.Manifests {
		if name := one.Annotations[refName]; name != "" && len(names) < 10 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no names"
	}
	return strings.Join(names, ", ")
}

// maxManifest bounds a manifest, as registries do.
const maxManifest = 4 << 20

func (l *Layout) read(name string) ([]byte, error) {
	file, size, err := l.files.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size > maxManifest {
		return nil, fmt.Errorf("%s has %d bytes, and at most %d are read", name, size, maxManifest)
	}
	return io.ReadAll(io.LimitReader(file, maxManifest))
}

// Over answers what is asked of the layout, and hands everything else to the wire; nil is http.DefaultTransport.
func (l *Layout) Over(wire http.RoundTripper) http.RoundTripper {
	if wire == nil {
		wire = http.DefaultTransport
	}
	return overLayout{l, wire}
}

type overLayout struct {
	layout *Layout
	wire   http.RoundTripper
}

func (o overLayout) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host != LayoutHost {
		return o.wire.RoundTrip(request)
	}
	return o.layout.answer(request.Context(), request)
}

// asked are the requests of the distribution specification that read.
var asked = regexp.MustCompile(`^/v2/(?:.+/(manifests|blobs|referrers)/([^/]+))?$`)

func (l *Layout) answer(ctx context.Context, request *http.Request) (*http.Response, error) {
	parts := asked.FindStringSubmatch(request.URL.Path)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case parts == nil || request.Method != http.MethodGet && request.Method != http.MethodHead:
		return respond(request, http.StatusMethodNotAllowed, "", nil), nil
	case parts[1] == "":
		return respond(request, http.StatusOK, "application/json", []byte("{}")), nil
	case parts[1] == "referrers":
		return l.referrers(request, parts[2])
	}
	digest := parts[2]
	if !strings.HasPrefix(digest, "sha256:") {
		found, err := l.Digest(digest)
		if err != nil {
			return respond(request, http.StatusNotFound, "", nil), nil
		}
		digest = found
	}
	if parts[1] == "manifests" {
		return l.manifest(request, digest)
	}
	file, size, err := l.files.open(blob(digest))
	if err != nil {
		return absent(request, err)
	}
	response := respond(request, http.StatusOK, "application/octet-stream", nil)
	response.Body, response.ContentLength = file, size
	response.Header.Set("Content-Length", strconv.FormatInt(size, 10))
	if request.Method == http.MethodHead {
		response.Body = http.NoBody
		return response, file.Close()
	}
	return response, nil
}

func (l *Layout) manifest(request *http.Request, digest string) (*http.Response, error) {
	raw, err := l.read(blob(digest))
	if err != nil {
		return absent(request, err)
	}
	var kind struct {
		MediaType string `json:"mediaType"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, apierr.New(apierr.Terminal, "the manifest %s of the layout is no JSON: %w", digest, err)
	}
	if kind.MediaType == "" {
		kind.MediaType = l.kindOf(digest)
	}
	response := respond(request, http.StatusOK, kind.MediaType, raw)
	response.Header.Set("Docker-Content-Digest", digest)
	return response, nil
}

// kindOf is the media type that the index has for a manifest that doesn't say it itself, as it may.
func (l *Layout) kindOf(digest string) string {
	for _, one := range l.index.Manifests {
		if one.Digest.String() == digest && one.MediaType != "" {
			return string(one.MediaType)
		}
	}
	return string(types.OCIManifestSchema1)
}

// referrers are what the index of the layout has that names a manifest as its subject.
func (l *Layout) referrers(request *http.Request, digest string) (*http.Response, error) {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{}}
	for _, one := range l.index.Manifests {
		raw, err := l.read(blob(one.Digest.String()))
		if err != nil {
			return absent(request, err)
		}
		var manifest v1.Manifest
		if json.Unmarshal(raw, &manifest) == nil && manifest.Subject != nil && manifest.Subject.Digest.String() == digest {
			one.ArtifactType = string(manifest.Config.MediaType)
			index.Manifests = append(index.Manifests, one)
		}
	}
	raw, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	return respond(request, http.StatusOK, string(types.OCIImageIndex), raw), nil
}

func blob(digest string) string { return "blobs/" + strings.Replace(digest, ":", "/", 1) }

func absent(request *http.Request, err error) (*http.Response, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return respond(request, http.StatusNotFound, "", nil), nil
	}
	return nil, apierr.New(apierr.Terminal, "reading the layout: %w", err)
}

func respond(request *http.Request, status int, kind string, body []byte) *http.Response {
	response := &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Request: request, ContentLength: int64(len(body)), Body: http.NoBody,
	}
	response.Header.Set("Content-Type", kind)
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	if request.Method != http.MethodHead {
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	return response
}
