package reach_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"salve/internal/apierr"
	"salve/internal/reach"
)

type answers []error

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	err := (*a)[0]
	*a = (*a)[1:]
	return &http.Response{}, err
}

func TestPermanent(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	untrusted := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	for name, row := range map[string]struct {
		answers   answers
		permanent bool
	}{
		"nothing listens there":             {answers{refused}, true},
		"nobody knows the name":             {answers{&net.DNSError{IsNotFound: true}}, true},
		"the certificate can't be trusted":  {answers{untrusted}, true},
		"the server of names does not know": {answers{&net.DNSError{IsTemporary: true}}, false},
		"the connection was cut":            {answers{&net.OpError{Op: "read", Err: syscall.ECONNRESET}}, false},
		"a server that answered is away":    {answers{nil, refused}, false},
	} {
		t.Run(name, func(t *testing.T) {
			transport := &reach.Transport{Base: &row.answers, Server: &reach.Server{}}
			var err error
			for len(row.answers) > 0 {
				_, err = transport.RoundTrip(nil)
			}
			if apierr.IsPermanent(err) != row.permanent {
				t.Errorf("permanent: %v (%v)", !row.permanent, err)
			}
			if row.permanent && (apierr.ClassOf(err) != apierr.Transient || errors.Unwrap(err) == nil) {
				t.Errorf("class %s of %v", apierr.ClassOf(err), err)
			}
		})
	}
}
