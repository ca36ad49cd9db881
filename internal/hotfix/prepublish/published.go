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

// index is what there is of each package.
type index map[string][]packaged

// packaged is one version of a package, and the file that has it.
type packaged struct {
	version string
	sha256  string // empty where the index doesn't say
	size    int64
}

// find looks for a version of a package; where an artifact is given, for the very file.
func (i index) find(t target, signed *hotfix.Artifact) error {
	var others []packaged
	for _, published := range i[t.packageName] {
		switch {
		case !t.version.PackagedAs(published.version):
			continue
		case signed == nil, strings.EqualFold(published.sha256, signed.SHA256) && published.size == signed.Size:
			return nil
		}
		others = append(others, published)
	}
	if len(others) > 0 {
		return apierr.New(apierr.Missing, "its file of %s has %d bytes with the SHA-256 %s, the pointer says %d and %s",
			others[0].version, others[0].size, others[0].sha256, signed.Size, signed.SHA256)
	}
	return apierr.New(apierr.Missing, "it has %s", listed(i[t.packageName]))
}

// Reader reads over HTTP, and repeats what clears by itself.
type Reader struct {
	client *http.Client
	clock  clock.Clock
	// by says which addresses a node goes to.
	by hotfix.Provenance
}

// NewReader makes a reader that goes through the environment's proxy.
func NewReader() *Reader {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true,
		TLSHandshakeTimeout: 10 * time.Second}
	r := &Reader{client: &http.Client{Transport: transport}, clock: clock.Real{}}
	r.client.CheckRedirect = r.follow
	return r
}

// follow is the rule by which nodes follow redirections: for a signed pointer they lead to hosts of the list alone.
func (r *Reader) follow(next *http.Request, before []*http.Request) error {
	if err := fetch.Follow(next, before); err != nil {
		return err
	}
	if !r.by.Signed {
		return nil
	}
	if err := r.by.Allows(next.URL); err != nil {
		return fmt.Errorf("%w: %w", fetch.ErrNotFollowed, err)
	}
	return nil
}

// Close gives up the reader's connections.
func (r *Reader) Close() { r.client.CloseIdleConnections() }

// Published looks for all that a pointer makes nodes fetch: in every repository, or
// at the address where the pointer names an artifact.
func (r *Reader) Published(ctx context.Context, pointer hotfix.Pointer, names Names, architectures []string,
	repositories []Repository) []Presence {
	var found []Presence
	search := &search{reader: r, indexes: map[string]looked{}}
	by := pointer.Provenance()
	for _, target := range targets(pointer, names, architectures) {
		artifact, named, err := pointer.ArtifactOf(target.version, target.artifactKey)
		switch {
		case err != nil:
			found = append(found, target.presence("artifacts", apierr.New(apierr.Missing, "%w", err)))
		case named && artifact.URL != "":
			r.by = by
			found = append(found, target.presence(Shown(artifact.URL), search.artifact(ctx, artifact)))
		case !named && by.Signed:
			found = append(found, target.presence("artifacts",
				apierr.New(apierr.Missing, "no artifact for it is under the signature: no node installs it")))
		case len(repositories) == 0:
			found = append(found, target.presence("no repository",
				apierr.New(apierr.Missing, "the pointer names no address, and no --repository was given to look in")))
		default:
			var signed *hotfix.Artifact
			if named {
				signed = &artifact
			}
			r.by = hotfix.Provenance{} // repositories are the package managers' affair
			for _, repository := range repositories {
				found = append(found, target.presence(repository.String(), search.repository(ctx, repository, target, signed)))
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

func (s *search) repository(ctx context.Context, repository Repository, t target, signed *hotfix.Artifact) error {
	key := repository.String() + " " + t.architecture
	seen, known := s.indexes[key]
	if !known {
		seen.index, seen.err = repository.versions(ctx, s.reader, t.architecture)
		s.indexes[key] = seen
	}
	if seen.err != nil {
		// A repository that isn't there says nothing about its packages.
		return apierr.New(apierr.Transient, "%w", seen.err)
	}
	return seen.index.find(t, signed)
}

// listed names some of the versions that are there.
func listed(there []packaged) string {
	const enough = 5
	var versions []string
	for _, one := range there {
		versions = append(versions, one.version)
	}
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

// Shown is an address without what may be a secret: user and query.
func Shown(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return "an address that can't be read"
	}
	return (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path}).String()
}
