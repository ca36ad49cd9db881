package fetch

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/archive"
)

const (
	dialTimeout   = 10 * time.Second
	headerTimeout = 15 * time.Second
	maxRedirects  = 5
	maxHeader     = 64 << 10 // bytes of an answer's header
)

// fromArtifact downloads from the pointer's address. The digest and the size are
// checked before anything is taken out of an archive.
func (o *Fetcher) fromArtifact(ctx context.Context, artifact hotfix.Artifact, e request, to string) (string, error) {
	downloaded := to
	if artifact.Format != hotfix.Binary {
		downloaded = to + "." + string(artifact.Format)
		defer func() { _ = os.Remove(downloaded) }() // the whole folder is removed in the end
	}
	client := o.newClient(e.by)
	defer client.CloseIdleConnections()
	err := o.patiently(ctx, func(ctx context.Context) error { return download(ctx, client, artifact, downloaded) })
	if err != nil {
		return "", err
	}
	if artifact.Format != hotfix.Binary {
		if err := unpack(ctx, downloaded, e.inside, to); err != nil {
			return "", err
		}
	}
	return shown(artifact.URL), nil
}

// newClient makes a client that goes through the environment's proxy, and nowhere
// but where a signed pointer leads.
func (o *Fetcher) newClient(by hotfix.Provenance) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout:    dialTimeout,
			ResponseHeaderTimeout:  headerTimeout,
			MaxResponseHeaderBytes: maxHeader,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.settings.Authorities},
			DisableCompression:     true, // the digest is of the bytes as they are published
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			if err := by.Allows(next.URL); err != nil {
				return fmt.Errorf("%w: %w", ErrNotFollowed, err)
			}
			return Follow(next, before)
		},
	}
}

// ErrNotFollowed says that a redirection leads where no node goes.
var ErrNotFollowed = errors.New("the redirection is not followed")

// Follow is the rule by which nodes follow redirections, as http.Client asks for
// it. What is published is looked for by the same rule.
func Follow(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) > maxRedirects:
		return fmt.Errorf("%w: there are more than %d", ErrNotFollowed, maxRedirects)
	case before[0].URL.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("%w: it leads away from HTTPS", ErrNotFollowed)
	}
	return nil
}

func download(ctx context.Context, client *http.Client, artifact hotfix.Artifact, to string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, artifact.URL, nil)
	if err != nil {
		return &Error{Outcome: BadArtifact, Err: withoutURL(err)}
	}
	answer, err := client.Do(request)
	if err != nil {
		return lost(ctx, err)
	}
	defer answer.Body.Close()
	if err := refused(answer); err != nil {
		return err
	}
	if answer.ContentLength >= 0 && answer.ContentLength != artifact.Size {
		return &Error{Outcome: BadArtifact, Err: fmt.Errorf("the server has %d bytes, the pointer says %d",
			answer.ContentLength, artifact.Size)}
	}
	file, err := create(to)
	if err != nil {
		return err
	}
	defer file.Close()
	return receive(ctx, answer.Body, artifact, file)
}

// receive writes what is served, at most as much as the pointer says.
func receive(ctx context.Context, body io.Reader, artifact hotfix.Artifact, file *os.File) error {
	digest := sha256.New()
	served := &reading{from: io.LimitReader(body, artifact.Size+1)}
	n, err := io.Copy(io.MultiWriter(file, digest), served)
	switch {
	case served.err != nil:
		return lost(ctx, served.err)
	case err != nil:
		return fmt.Errorf("writing what was downloaded: %w", err)
	case n != artifact.Size:
		return &Error{Outcome: BadArtifact,
			Err: fmt.Errorf("the server's file does not have the %d bytes that the pointer says", artifact.Size)}
	}
	if got := hex.EncodeToString(digest.Sum(nil)); !strings.EqualFold(got, artifact.SHA256) {
		return &Error{Outcome: BadArtifact, Err: fmt.Errorf("its SHA-256 is %s, the pointer says %s", got, artifact.SHA256)}
	}
	return file.Close()
}

// reading tells the errors of reading from those of writing.
type reading struct {
	from io.Reader
	err  error
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// unpack takes the one file out of a package.
func unpack(ctx context.Context, from, inside, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	open := archive.Deb
	if strings.HasSuffix(from, ".rpm") {
		open = archive.RPM
	}
	var full *os.PathError
	err = open(ctx, in, archive.Wanted{Name: inside, Limit: hotfix.MaxArtifactSize}, out)
	switch {
	case err != nil && ctx.Err() != nil:
		return &Error{Outcome: Timeout, Err: fmt.Errorf("unpacking: %w", context.Cause(ctx))}
	case errors.As(err, &full):
		return fmt.Errorf("unpacking: %w", err)
	case err != nil:
		return &Error{Outcome: BadArtifact, Err: fmt.Errorf("unpacking: %w", err)}
	}
	return out.Close()
}

// shown is an address without what may be a secret: user and query.
func shown(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return "an address that can't be read"
	}
	return (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path}).String()
}
