package permit

import (
	"context"
	"fmt"
	"net/http"

	"salve/internal/apierr"
	"salve/internal/redact"
)

type contextKey struct{}

// NewContext gives a context that carries a permit to the wire.
func NewContext(ctx context.Context, p Permit) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext gives the permit that a context carries; the zero Permit, which
// authorizes nothing, when it carries none.
func FromContext(ctx context.Context) Permit {
	p, _ := ctx.Value(contextKey{}).(Permit)
	return p
}

// Transport is the RoundTripper under every client that Salve builds. It lets pass
// what only reads, and what Exempt names. Any other request needs a live permit in
// its context: expiry and lease are asked right before it is sent. The request and
// its answer are then noted in the run's audit trail.
type Transport struct {
	// Base sends the requests; required.
	Base http.RoundTripper
	// Exempt names requests that change nothing although their method says so, and
	// those of Salve's own record. Nil exempts nothing.
	Exempt func(*http.Request) (name string, ok bool)
	// Header carries the permit's ID with each change, such as Audit-ID for the
	// Kubernetes API server. Empty sends none.
	Header string
}

// RoundTrip sends a request, or refuses it with class Conflict before it leaves.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.passes(request) {
		return t.Base.RoundTrip(request)
	}
	p := FromContext(request.Context())
	if err := p.Authorize(request.Context()); err != nil {
		closeBody(request)
		return nil, fmt.Errorf("%s %s: %w", request.Method, redact.Path(request.URL.EscapedPath()), err)
	}
	if t.Header != "" {
		request = request.Clone(request.Context())
		request.Header.Set(t.Header, p.ID())
	}
	made := Request{Method: request.Method, Path: redact.Path(request.URL.EscapedPath()), Permit: p.ID()}
	answered := p.note(made)
	response, err := t.Base.RoundTrip(request)
	if err != nil {
		made.Class = apierr.ClassOf(err)
	} else {
		made.Status = response.StatusCode
	}
	answered(made)
	return response, err
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.Base }

// passes tells whether a request needs no permit. What asks for another protocol, as
// exec and port-forward do by GET, may change anything once it has it.
func (t *Transport) passes(request *http.Request) bool {
	if request.Header.Get("Upgrade") != "" {
		return false
	}
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "":
		return true
	}
	if t.Exempt == nil {
		return false
	}
	_, exempt := t.Exempt(request)
	return exempt
}

// closeBody keeps the promise of a RoundTripper that gives an error.
func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close()
	}
}
