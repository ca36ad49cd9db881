package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// Within is a config for libraries that make requests without a context of the caller's: each is made within ctx, under
// the permit that it carries, and none is made or goes on once ctx has ended. What is made of the config must not be
// used for anything else.
func (c *Cluster) Within(ctx context.Context) (*rest.Config, error) {
	if c.config == nil {
		return nil, apierr.New(apierr.Terminal, "the cluster's clients were made elsewhere: it has no config")
	}
	config, err := guarded(c.config, nil)
	if err != nil {
		return nil, err
	}
	config.ContentType, config.AcceptContentTypes = "", "" // what a library expects by default
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &within{ctx: ctx, next: next} })
	return config, nil
}

// within makes requests within a context beside their own.
type within struct {
	ctx  context.Context //nolint:containedctx // the requests come without it
	next http.RoundTripper
}

// RoundTrip sends a request that ends with either context.
func (w *within) RoundTrip(request *http.Request) (*http.Response, error) {
	if w.ctx.Err() != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		ended := context.Cause(w.ctx) //nolint:contextcheck // the step's, not the request's
		return nil, fmt.Errorf("%s %s: %w", request.Method, bounded(request.URL.Path), ended)
	}
	permitted := permit.NewContext(request.Context(), permit.FromContext(w.ctx)) //nolint:contextcheck // two contexts meet
	ctx, cancel := context.WithCancelCause(permitted)
	stop := context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) }) //nolint:contextcheck // and either ends it
	response, err := w.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		stop()
		cancel(nil)
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, closed: func() { stop(); cancel(nil) }}
	return response, nil
}

// WrappedRoundTripper lets client-go find the transport below.
func (w *within) WrappedRoundTripper() http.RoundTripper { return w.next }

// body tells when it is closed.
type body struct {
	io.ReadCloser
	closed func()
}

func (b *body) Close() error {
	defer b.closed()
	return b.ReadCloser.Close()
}
