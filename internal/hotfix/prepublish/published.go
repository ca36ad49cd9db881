package prepublish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/archive"
	"salve/internal/hotfix/fetch"
)

// State says whether a target is there.
type State string

// The states.
const (
	There    State = "there"
	NotThere State = "not-there"
	Unknown  State = "unknown" // nobody could look
)

// Presence is whether one target can be had from one place.
type Presence struct {
	Field        string `json:"field"`
	Package      string `json:"package"`
	Version      string `json:"version"`
	Architecture string `json:"architecture"`
	Place        string `json:"place"`
	State        State  `json:"state"`
	Says         string `json:"says,omitempty"`
}

// Repository is a place of packages.
type Repository interface {
	// Versions gives the versions of packages for an architecture, as Go names it.
	versions(ctx context.Context, from *Reader, architecture string) (index, error)
	String() string
}

// index is the versions of each package.
type index map[string][]string

func (i index) has(name string, version hotfix.Version) bool {
	for _, published := range i[name] {
		if version.PackagedAs(published) {
			return true
		}
	}
	return false
}

// Reader reads over HTTP, and repeats what clears by itself.
type Reader struct {
	client *http.Client
	clock  clock.Clock
}

// NewReader makes a reader that goes through the environment's proxy.
func NewReader() *Reader {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true,
		TLSHandshakeTimeout: 10 * time.Second}
	return &Reader{client: &http.Client{Transport: transport, CheckRedirect: fetch.Follow}, clock: clock.Real{}}
}

// Close gives up the reader's connections.
func (r *Reader) Close() { r.client.CloseIdleConnections() }

// Published looks for all that a pointer makes nodes fetch: in every repository, or
// at the address where the pointer names an artifact.
func (r *Reader) Published(ctx context.Context, pointer hotfix.Pointer, names Names, architectures []string,
	repositories []Repository) []Presence {
	var found []Presence
	search := &search{reader: r, indexes: map[string]looked{}}
	for _, target := range targets(pointer, names, architectures) {
		artifact, named, err := pointer.Artifact(target.version.Base(), target.artifactKey)
		switch {
		case err != nil:
			found = append(found, target.presence("artifacts", apierr.New(apierr.Missing, "%w", err)))
		case named:
			found = append(found, target.presence(shown(artifact.URL), search.artifact(ctx, artifact)))
		case len(repositories) == 0:
			found = append(found, target.presence("no repository",
				apierr.New(apierr.Missing, "the pointer names no artifact, and no --repository was given to look in")))
		default:
			for _, repository := range repositories {
				found = append(found, target.presence(repository.String(), search.repository(ctx, repository, target)))
			}
		}
	}
	return found
}

func (t target) presence(place string, err error) Presence {
	found := Presence{
		Field: t.entry.Field, Package: t.packageName, Version: t.version.String(), Architecture: t.architecture, Place: place,
		State: There,
	}
	if err != nil {
		found.State, found.Says = Unknown, err.Error()
		if apierr.ClassOf(err) == apierr.Missing {
			found.State = NotThere
		}
	}
	return found
}

// search remembers what was looked at: a repository is read once an architecture.
type search struct {
	reader  *Reader
	indexes map[string]looked
}

type looked struct {
	index index
	err   error
}

func (s *search) repository(ctx context.Context, repository Repository, t target) error {
	key := repository.String() + " " + t.architecture
	seen, known := s.indexes[key]
	if !known {
		seen.index, seen.err = repository.versions(ctx, s.reader, t.architecture)
		s.indexes[key] = seen
	}
	switch {
	case seen.err != nil:
		// A repository that isn't there says nothing about its packages.
		return apierr.New(apierr.Transient, "%w", seen.err)
	case !seen.index.has(t.packageName, t.version):
		return apierr.New(apierr.Missing, "it has %s", listed(seen.index[t.packageName]))
	}
	return nil
}

// listed names some of the versions that are there.
func listed(versions []string) string {
	const enough = 5
	switch {
	case len(versions) == 0:
		return "no version of this package"
	case len(versions) > enough:
		return strings.Join(versions[len(versions)-enough:], ", ") + " and others"
	}
	return strings.Join(versions, ", ")
}

// artifact downloads what the pointer names, and throws it away.
func (s *search) artifact(ctx context.Context, artifact hotfix.Artifact) error {
	key := fmt.Sprint(artifact)
	if seen, known := s.indexes[key]; known {
		return seen.err
	}
	digest := sha256.New()
	err := s.reader.read(ctx, artifact.URL, artifact.Size, func(content io.Reader) error {
		digest.Reset()
		n, err := io.Copy(digest, content)
		if err == nil && n != artifact.Size {
			return apierr.New(apierr.Missing, "it has %d bytes, the pointer says %d", n, artifact.Size)
		}
		return err
	})
	if errors.Is(err, archive.ErrTooLarge) {
		err = apierr.New(apierr.Missing, "it has more than the %d bytes that the pointer says", artifact.Size)
	}
	if got := hex.EncodeToString(digest.Sum(nil)); err == nil && !strings.EqualFold(got, artifact.SHA256) {
		err = apierr.New(apierr.Missing, "its SHA-256 is %s, the pointer says %s", got, artifact.SHA256)
	}
	s.indexes[key] = looked{err: err}
	return err
}

// shown is an address without what may be a secret: user and query.
func shown(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return "an address that can't be read"
	}
	return (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path}).String()
}
