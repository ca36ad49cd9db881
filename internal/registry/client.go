package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// Login gives what a registry's host wants to see; anonymous where it is authn.Anonymous.
type Login func(ctx context.Context, host string) (authn.Authenticator, error)

// Client asks registries.
type Client struct {
	login Login
	wire  http.RoundTripper
}

// copies is how many blobs travel at once.
const copies = 4

// New makes a client. A nil transport is http.DefaultTransport; a nil login is anonymous everywhere. No request that
// changes something leaves without a permit.
func New(base http.RoundTripper, login Login) *Client {
	if base == nil {
		base = http.DefaultTransport
	}
	if login == nil {
		login = func(context.Context, string) (authn.Authenticator, error) { return authn.Anonymous, nil }
	}
	return &Client{login: login, wire: &permit.Transport{Base: base}}
}

func (c *Client) options(ctx context.Context, host string) ([]remote.Option, error) {
	authenticator, err := c.login(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("signing in to registry %s: %w", host, err)
	}
	return []remote.Option{
		remote.WithContext(ctx), remote.WithTransport(c.wire), remote.WithAuth(authenticator), remote.WithJobs(copies),
		remote.WithRetryBackoff(remote.Backoff{Duration: 200 * time.Millisecond, Factor: 3, Jitter: 0.1, Steps: 3}),
	}, nil
}

// Manifest is what a registry has under a digest.
type Manifest struct {
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`
}

// Manifest reads what there is of an image. It is of class missing where the registry says that there is none.
func (c *Client) Manifest(ctx context.Context, image Image) (Manifest, error) {
	got, err := c.get(ctx, image)
	if err != nil {
		return Manifest{}, err
	}
	return Manifest{MediaType: string(got.MediaType), Size: got.Size}, nil
}

// at is an image as the library names it, and what to ask its registry with.
func (c *Client) at(ctx context.Context, image Image) (name.Digest, []remote.Option, error) {
	reference, err := image.reference()
	if err != nil {
		return name.Digest{}, nil, apierr.New(apierr.Terminal, "%w", err)
	}
	options, err := c.options(ctx, image.Registry)
	return reference, options, err
}

// get reads a manifest, whose bytes have the digest.
func (c *Client) get(ctx context.Context, image Image) (*remote.Descriptor, error) {
	reference, options, err := c.at(ctx, image)
	if err != nil {
		return nil, err
	}
	got, err := remote.Get(reference, options...)
	if err != nil {
		return nil, classified(fmt.Errorf("reading image %s: %w", image, err))
	}
	if got.Digest.String() != image.Digest {
		return nil, apierr.New(apierr.Terminal, "reading image %s: the registry sent another one, %s", image, got.Digest)
	}
	return got, nil
}

// tagged is the digest that a tag names; empty where there is no such tag.
func (c *Client) tagged(ctx context.Context, host, repository, tag string) (string, error) {
	options, err := c.options(ctx, host)
	if err != nil {
		return "", err
	}
	reference, err := name.NewTag(host+"/"+repository+":"+tag, name.StrictValidation)
	if err != nil {
		return "", apierr.New(apierr.Terminal, "tag %q: %w", tag, err)
	}
	head, err := remote.Head(reference, options...)
	switch err := classified(err); {
	case err == nil:
		return head.Digest.String(), nil
	case apierr.ClassOf(err) == apierr.Missing:
		return "", nil
	default:
		return "", fmt.Errorf("reading tag %s: %w", reference, err)
	}
}

// classified says what a registry's refusal means. The codes of the distribution specification add nothing to HTTP's.
func classified(err error) error {
	var refused *transport.Error
	var classed *apierr.Error
	if err == nil || errors.As(err, &classed) || !errors.As(err, &refused) {
		return err
	}
	return &apierr.Error{Class: classOf(refused.StatusCode), Err: err}
}

func statusError(status int) error {
	return apierr.New(classOf(status), "HTTP %d %s", status, http.StatusText(status))
}

func classOf(status int) apierr.Class {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return apierr.Denied
	case status == http.StatusNotFound:
		return apierr.Missing
	case status == http.StatusTooManyRequests:
		return apierr.Throttled
	case status == http.StatusConflict || status == http.StatusPreconditionFailed:
		return apierr.Conflict
	case status == http.StatusRequestTimeout || status >= http.StatusInternalServerError:
		return apierr.Transient
	}
	return apierr.Terminal
}
