package reach

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"

	"salve/internal/apierr"
)

// Transport marks failures that waiting does not help against as apierr.PermanentError. They are of class Transient:
// nothing was seen.
type Transport struct {
	Base http.RoundTripper
	// Server is shared by all transports to one server.
	Server *Server
}

// Server remembers whether a server has ever answered.
type Server struct{ answered atomic.Bool }

// RoundTrip sends the request.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.Base.RoundTrip(request)
	if err == nil {
		t.Server.answered.Store(true)
		return response, nil
	}
	if t.Server.answered.Load() || !permanent(err) {
		return response, err
	}
	return response, &apierr.Error{Class: apierr.Transient, Err: &apierr.PermanentError{Err: err}}
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.Base }

// permanent tells whether a first connection fails again when it is tried again: nothing listens there, the name is not
// known, or the certificate can't be trusted. kubectl gives up on the same ones at once.
func permanent(err error) bool {
	var unknown *net.DNSError
	var untrusted *tls.CertificateVerificationError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &unknown) && unknown.IsNotFound ||
		errors.As(err, &untrusted)
}
