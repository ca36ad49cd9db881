package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// lost is a connection that was not to be had, or that broke.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &Error{Outcome: Timeout, Err: fmt.Errorf("downloading: %w", context.Cause(ctx))}
	}
	outcome, final := classOf(err)
	return &Error{Outcome: outcome, Final: final, Err: fmt.Errorf("downloading: %w", withoutURL(err))}
}

// classOf tells what will be the same at the next try: a name that nobody has, a
// port that nobody listens at, a certificate that isn't trusted, a redirection that is
// not followed.
func classOf(err error) (outcome Outcome, final bool) {
	var name *net.DNSError
	switch {
	case errors.Is(err, ErrNotFollowed), badCertificate(err):
		return Untrusted, true
	case errors.As(err, &name):
		return Unreachable, name.IsNotFound
	}
	return Unreachable, errors.Is(err, syscall.ECONNREFUSED)
}

func badCertificate(err error) bool {
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var noTLS tls.RecordHeaderError
	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &noTLS) || errors.As(err, &certificate) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// refused classifies an answer that doesn't carry the file.
func refused(answer *http.Response) error {
	outcome := Failed
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		outcome = VersionNotFound
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusProxyAuthRequired:
		outcome = Denied
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		outcome = Unreachable
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return &Error{Outcome: outcome, RetryAfter: time.Duration(seconds) * time.Second,
		Err: fmt.Errorf("the server answers %.100q", answer.Status)}
}

// withoutURL takes the address out of an error: its query may be a signature.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
