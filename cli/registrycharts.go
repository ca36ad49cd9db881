package cli

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"

	"salve/internal/apierr"
	"salve/internal/helm"
	"salve/internal/registry"
	"salve/runbooks/helmrelease"
)

// readCharts are the charts of a pipeline that were read from registries, by their references: each is read once, so
// that what was checked is what is released.
type readCharts struct {
	mu   sync.Mutex
	read map[string]readChart
}

type readChart struct {
	digest string
	chart  helm.Chart
}

// registryCharts reads charts of registries.
type registryCharts struct {
	registryAccess
	read *readCharts
}

// unreadError says that a chart could not be read from its registry.
type unreadError struct{ err error }

func (e *unreadError) Error() string { return e.err.Error() }

func (e *unreadError) Unwrap() error { return e.err }

// chart reads a chart by a reference such as oci://charts.example/web:1.0.0.
func (r *registryCharts) chart(ctx context.Context, named string) (helm.Chart, helmrelease.Origin, error) {
	reference, err := registry.ParseReference(named)
	if err != nil {
		return helm.Chart{}, helmrelease.Origin{}, fmt.Errorf("chartDir: %w", err)
	}
	azure, transport, err := r.azure()
	if err != nil {
		return helm.Chart{}, helmrelease.Origin{}, &unreadError{err}
	}
	client := registry.New(transport, func(ctx context.Context, host string) (authn.Authenticator, error) {
		return r.login(ctx, azure, host)
	})
	r.read.mu.Lock()
	defer r.read.mu.Unlock()
	known, found := r.read.read[named]
	if !found {
		if known, err = pull(ctx, client, named, reference); err != nil {
			return helm.Chart{}, helmrelease.Origin{}, r.orAbsent(err, reference.Registry)
		}
		if r.read.read == nil {
			r.read.read = map[string]readChart{}
		}
		r.read.read[named] = known
	}
	return known.chart, helmrelease.Origin{
		Reference: named, Digest: known.digest,
		Now: func(ctx context.Context) (string, error) { return client.Resolve(ctx, reference) },
	}, nil
}

// pull reads a chart by the digest that its reference names now.
func pull(ctx context.Context, client *registry.Client, named string, reference registry.Reference) (readChart, error) {
	digest, err := client.Resolve(ctx, reference)
	if err != nil {
		return readChart{}, unread(named, err)
	}
	image := reference.Image()
	image.Digest = digest
	packaged, err := client.Layer(ctx, image, helm.Packaged())
	if err != nil {
		return readChart{}, unread(named, err)
	}
	chart, err := helm.ReadPackage(named, packaged)
	return readChart{digest: digest, chart: chart}, err
}

// unread says why a chart was not read. What is there, and is no chart, won't be one when the step's turn comes.
func unread(named string, err error) error {
	wrapped := fmt.Errorf("chart %s: %w", named, err)
	if apierr.ClassOf(err) == apierr.Terminal {
		return wrapped
	}
	return &unreadError{wrapped}
}
