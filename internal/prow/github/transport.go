package github

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// answerLimit bounds the body of an answer. A page of 100 pull requests has some two megabytes.
const answerLimit = 32 << 20

// transport is the one way to the wire. From the outside in: a request that is not for the endpoint is refused; one
// that would go below the reserve, too; a read is made conditional; a change needs a permit; the token is added last,
// so that nothing above it sees it; an answer is bounded and JSON.
func (c *Client) transport(options Options, endpoint *url.URL) http.RoundTripper {
	base := options.Transport
	if base == nil {
		base = defaultTransport()
	}
	authorized := &authorized{base: &bounded{base: base, limit: answerLimit}, token: options.Token, secrets: c.secrets}
	permitted := &permit.Transport{Base: authorized}
	return &pinned{endpoint: endpoint, base: &metered{
		base: newConditional(permitted, options.CacheBytes), budget: c.budget,
	}}
}

// authorized adds the token.
type authorized struct {
	base    http.RoundTripper
	token   TokenSource
	secrets *masker
}

func (a *authorized) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := a.token.Token(request.Context())
	if err == nil {
		token, err = checkToken(token)
	}
	if err != nil {
		closeBody(request)
		return nil, &apierr.Error{Class: apierr.Denied, Err: err}
	}
	a.secrets.remember(token)
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+token)
	return a.base.RoundTrip(request)
}

// pinned refuses requests to anybody but the endpoint.
type pinned struct {
	endpoint *url.URL
	base     http.RoundTripper
}

func (p *pinned) RoundTrip(request *http.Request) (*http.Response, error) {
	to := request.URL
	if to.Scheme != p.endpoint.Scheme || !strings.EqualFold(to.Host, p.endpoint.Host) || to.User != nil ||
		to.Opaque != "" || !strings.HasPrefix(to.Path, p.endpoint.Path) ||
		request.Host != "" && !strings.EqualFold(request.Host, to.Host) {
		closeBody(request)
		return nil, apierr.New(apierr.Terminal, "request to %s://%s is not for the GitHub API at %s", short(to.Scheme),
			short(to.Host), p.endpoint)
	}
	return p.base.RoundTrip(request)
}

// bounded limits the size of answers, and refuses those that aren't JSON: a proxy's page must not be taken for
// GitHub's word.
type bounded struct {
	base  http.RoundTripper
	limit int64
}

func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	class := unreadable(request.Method)
	if response.StatusCode == http.StatusOK && !isJSON(response) {
		_ = response.Body.Close() // it is not read
		return nil, apierr.New(class, "answer to %s %s is not JSON but %s. hint: is a proxy in between?",
			request.Method, short(request.URL.Path), short(response.Header.Get("Content-Type")))
	}
	response.Body = &limited{ReadCloser: http.MaxBytesReader(nil, response.Body, b.limit), class: class}
	return response, nil
}

// unreadable is what an answer means that can't be read. A change may have happened.
func unreadable(method string) apierr.Class {
	if method == http.MethodGet || method == http.MethodHead {
		return apierr.Terminal
	}
	return apierr.Transient
}

func isJSON(response *http.Response) bool {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// limited gives the limit's error its class.
type limited struct {
	io.ReadCloser
	class apierr.Class
}

func (l *limited) Read(into []byte) (int, error) {
	n, err := l.ReadCloser.Read(into)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		err = &apierr.Error{Class: l.class, Err: fmt.Errorf("answer is larger than %d bytes: %w", tooLarge.Limit, err)}
	}
	return n, err
}

// closeBody keeps the promise of a RoundTripper that gives an error.
func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close()
	}
}

// defaultTransport is that of a client that was given none.
func defaultTransport() http.RoundTripper {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		MaxIdleConns: 20, MaxIdleConnsPerHost: 10, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		// A connection that went dead is found before a request waits on it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	}
}
