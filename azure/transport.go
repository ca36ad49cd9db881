package azure

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"salve/internal/apierr"
	"salve/internal/permit"
	"salve/internal/reach"
)

// answerLimit bounds the body of an answer. ARM's largest, a page of the Activity
// Log, has a few megabytes.
const answerLimit = 64 << 20

// requestID is the header by which ARM's own log leads back to the journal
// (https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/common-api-details.md).
const requestID = "X-Ms-Client-Request-Id"

// newTransport is the one way to the wire of a client. From the outside in: a
// request that isn't for the ARM endpoint is refused, a change needs a permit, and
// an answer is bounded. It follows no redirect, because no RoundTripper does: the
// token would go along.
func newTransport(base http.RoundTripper, endpoint *url.URL) policy.Transporter {
	base = &reach.Transport{Base: base, Server: &reach.Server{}}
	permitted := &permit.Transport{Base: base, Exempt: exempt, Header: requestID}
	return transporter{&pinned{endpoint: endpoint, base: &bounded{base: permitted, limit: answerLimit}}}
}

// transporter is a RoundTripper as the SDK wants it. An http.Client would follow
// redirects.
type transporter struct{ http.RoundTripper }

func (t transporter) Do(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTrip(request)
	if err != nil && apierr.ClassOf(err) == apierr.Unclassified {
		return nil, fmt.Errorf("no answer from %s: %w", request.URL.Host, err)
	}
	return response, err
}

// reading are POSTs that change nothing. They need no permit.
//
//nolint:gochecknoglobals // a table that nobody writes to, compiled once
var reading = map[string]*regexp.Regexp{
	// https://learn.microsoft.com/rest/api/aks/managed-clusters/list-cluster-user-credentials
	"user credentials": regexp.MustCompile(`(?i)^/subscriptions/[^/]+/resourceGroups/[^/]+` +
		`/providers/Microsoft\.ContainerService/managedClusters/[^/]+/listClusterUserCredential$`),
	// https://learn.microsoft.com/rest/api/resources/deployments/what-if
	"what-if": regexp.MustCompile(`(?i)^/subscriptions/[^/]+(/resourceGroups/[^/]+)?` +
		`/providers/Microsoft\.Resources/deployments/[^/]+/whatIf$`),
	// https://learn.microsoft.com/rest/api/resources/deployments/validate
	"validate": regexp.MustCompile(`(?i)^/subscriptions/[^/]+(/resourceGroups/[^/]+)?` +
		`/providers/Microsoft\.Resources/deployments/[^/]+/validate$`),
}

// exempt names the requests that need no permit although they are POSTs.
func exempt(request *http.Request) (name string, ok bool) {
	if request.Method != http.MethodPost {
		return "", false
	}
	for name, path := range reading {
		if path.MatchString(request.URL.EscapedPath()) {
			return name, true
		}
	}
	return "", false
}

// pinned refuses requests to anybody but ARM: each carries a token with all the
// caller's rights, and the URLs of operations and of next pages come from answers
// and from records.
type pinned struct {
	endpoint *url.URL
	base     http.RoundTripper
}

func (p *pinned) RoundTrip(request *http.Request) (*http.Response, error) {
	err := atEndpoint(p.endpoint, request.URL)
	if err == nil && request.Host != "" && !strings.EqualFold(request.Host, request.URL.Host) {
		err = apierr.New(apierr.Terminal, "host header %q is not of the ARM endpoint %s", request.Host, p.endpoint.Host)
	}
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close() // the request is refused: nobody reads it
		}
		return nil, err
	}
	return p.base.RoundTrip(request)
}

// pin is the same question before a token is asked for, so that a URL without TLS
// gets this answer and not the SDK's, which has no class.
type pin struct{ endpoint *url.URL }

func (p pin) Do(request *policy.Request) (*http.Response, error) {
	if err := atEndpoint(p.endpoint, request.Raw().URL); err != nil {
		return nil, err
	}
	return request.Next()
}

// atEndpoint tells whether a URL has ARM's scheme and host.
func atEndpoint(endpoint, target *url.URL) error {
	if strings.EqualFold(target.Scheme, endpoint.Scheme) && target.User == nil && target.Opaque == "" &&
		target.Hostname() != "" && strings.EqualFold(target.Hostname(), endpoint.Hostname()) &&
		port(target) == port(endpoint) {
		return nil
	}
	shown := url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path} // a query may hold a signature
	return &apierr.Error{Class: apierr.Terminal, Err: &foreignURLError{
		url: short(shown.String()), endpoint: endpoint.Scheme + "://" + endpoint.Host,
	}}
}

// foreignURLError says that a request was not sent, because it was not for ARM.
type foreignURLError struct{ url, endpoint string }

func (e *foreignURLError) Error() string {
	return fmt.Sprintf("operation URL %s is not at the ARM endpoint %s", e.url, e.endpoint)
}

func port(of *url.URL) string {
	switch {
	case of.Port() != "":
		return of.Port()
	case strings.EqualFold(of.Scheme, "https"):
		return "443"
	}
	return "80"
}

// bounded limits the size of answers, and refuses those that aren't JSON: a proxy's
// page must not be taken for ARM's word.
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
	if response.StatusCode < 300 && !isJSON(response) {
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

// isJSON tells whether an answer says that it is JSON. One without a type has no
// body, or is found out when it is decoded.
func isJSON(response *http.Response) bool {
	header := response.Header.Get("Content-Type")
	if header == "" {
		return true
	}
	kind, _, err := mime.ParseMediaType(header)
	return err == nil && (kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json"))
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

// defaultTransport is that of a client that was given none.
func defaultTransport() http.RoundTripper {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		MaxIdleConns: 100, MaxIdleConnsPerHost: 10, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		// A connection that went dead is found before a request waits on it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	}
}
