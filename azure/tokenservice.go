package azure

import (
	"net/http"
	"sync"
	"sync/atomic"

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

// metadataHost gives tokens to machines in Azure; elsewhere nobody answers, which says nothing of the service that was
// meant (https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service).
const metadataHost = "169.254.169.254"

// RoundTrip sends a request.
func (s *TokenService) RoundTrip(request *http.Request) (*http.Response, error) {
	base := s.Base
	if base == nil {
		base = http.DefaultTransport
	}
	server, _ := s.servers.LoadOrStore(request.URL.Host, &reach.Server{})
	//nolint:forcetypeassert // nothing else is stored
	response, err := (&reach.Transport{Base: base, Server: server.(*reach.Server)}).RoundTrip(request)
	switch {
	case request.URL.Hostname() == metadataHost:
	case apierr.IsPermanent(err):
		s.unreached.Store(&err)
	default:
		s.unreached.Store(nil)
	}
	return response, err
}

// failure is why the last request was not answered, and won't be; nil where it may be.
func (s *TokenService) failure() error {
	if s == nil {
		return nil
	}
	if failure := s.unreached.Load(); failure != nil {
		return *failure
	}
	return nil
}
