package azure

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"salve/internal/apierr"
	"salve/internal/reach"
)

// TokenService is how a credential reaches the services that give tokens. It remembers why the last of them could not
// be reached: the SDK keeps no more of it than a text.
type TokenService struct {
	// Base sends the requests; nil is http.DefaultTransport.
	Base http.RoundTripper

	servers   sync.Map // *reach.Server by host
	unreached atomic.Pointer[error]
}

// metadataHost gives tokens to machines in Azure. Elsewhere nobody answers, which says nothing of the service that was
// meant; and there it may refuse connections for a while, which the SDK waits out
// (https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service).
const metadataHost = "169.254.169.254"

// RoundTrip sends a request.
func (s *TokenService) RoundTrip(request *http.Request) (*http.Response, error) {
	base := s.Base
	if base == nil {
		base = http.DefaultTransport
	}
	if request.URL.Hostname() == metadataHost {
		return base.RoundTrip(request)
	}
	server, _ := s.servers.LoadOrStore(request.URL.Host, &reach.Server{})
	//nolint:forcetypeassert // nothing else is stored
	response, err := (&reach.Transport{Base: base, Server: server.(*reach.Server)}).RoundTrip(request)
	if apierr.IsPermanent(err) {
		s.unreached.Store(&err)
	} else {
		s.unreached.Store(nil)
	}
	return response, err
}

// failure is why the credential gave an error instead of a token, where that is because the service can't be reached;
// nil where it is not.
func (s *TokenService) failure(err error) error {
	var flattened *azidentity.AuthenticationFailedError
	switch {
	case apierr.IsPermanent(err):
		return err
	case s == nil || !errors.As(err, &flattened) || flattened.RawResponse != nil:
		return nil
	}
	if failure := s.unreached.Load(); failure != nil {
		return *failure
	}
	return nil
}
