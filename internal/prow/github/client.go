package github

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/clock"
	"salve/internal/redact"
)

// DefaultBaseURL is the API of github.com. That of a GitHub Enterprise Server is https://HOST/api/v3/.
const DefaultBaseURL = "https://api.github.com/"

// Host is the GitHub that the base URL of an API leads to; empty is that of github.com.
func Host(endpoint string) (string, error) {
	base, err := url.Parse(cmp.Or(endpoint, DefaultBaseURL))
	if err != nil || base.Host == "" {
		return "", fmt.Errorf("--github-endpoint %q is not the URL of an API", endpoint)
	}
	return strings.ToLower(base.Host), nil
}

// changeInterval is what GitHub asks for between two changes of one client
// (https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
const changeInterval = time.Second

// Options say how to reach GitHub.
type Options struct {
	// BaseURL is where the REST API is; empty is DefaultBaseURL. It begins with https://, but for a server on this
	// host.
	BaseURL string
	// Token gives the credential; required.
	Token TokenSource
	// Transport sends the requests; nil is one of the client's own. It may not follow redirects.
	Transport http.RoundTripper
	Clock     clock.Clock
	// Reserve is how much of the rate limit is left to others: the client stops before it goes below.
	Reserve int
	// MaxWait bounds how long one read waits until the rate limit is reset or the pause is over that GitHub asked for;
	// zero: a read that would have to wait fails with class Throttled.
	MaxWait time.Duration
	// ChangeInterval is the least time between two changes; zero is one second, as GitHub asks.
	ChangeInterval time.Duration
	// MaxPages bounds a list; zero is 1,000 pages of 100. A longer list is an error.
	MaxPages int
	// CacheBytes bounds the answers that are kept for conditional reads; zero is 32 MiB, negative keeps none.
	CacheBytes int
}

// Client speaks to one GitHub with one token. It is safe for concurrent use.
type Client struct {
	api     *gogithub.Client
	clock   clock.Clock
	budget  *budget
	secrets *masker
	maxWait time.Duration
	maxPage int

	interval   time.Duration
	changes    sync.Mutex
	lastChange time.Time
}

// New makes a client. It makes no call.
func New(options Options) (*Client, error) {
	base, err := endpointOf(options.BaseURL)
	if err != nil {
		return nil, err
	}
	if options.Token == nil {
		return nil, fmt.Errorf("GitHub client without a token source. hint: --github-token-file or GITHUB_TOKEN")
	}
	if options.Clock == nil {
		options.Clock = clock.Real{}
	}
	c := &Client{
		clock: options.Clock, budget: newBudget(options.Clock, options.Reserve), secrets: &masker{},
		maxWait: options.MaxWait, maxPage: orDefault(options.MaxPages, 1000),
		interval: orDefault(options.ChangeInterval, changeInterval),
	}
	address := base.String()
	c.api, err = gogithub.NewClient(
		gogithub.WithHTTPClient(&http.Client{
			Transport:     c.transport(options, base),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		gogithub.WithURLs(&address, &address),
		gogithub.WithUserAgent("salve"),
		// Limits are kept here: on the injected clock, with a reserve.
		gogithub.WithDisableRateLimitCheck(),
	)
	if err != nil {
		return nil, fmt.Errorf("making the GitHub client: %w", err)
	}
	return c, nil
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// endpointOf checks a base URL. The token goes there with each request: only to this host may it go in the clear.
func endpointOf(text string) (*url.URL, error) {
	if text == "" {
		text = DefaultBaseURL
	}
	base, err := url.Parse(text)
	if err != nil || base.Hostname() == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("GitHub base URL %q is not the URL of an API", short(redact.String(text)))
	}
	if base.Scheme != "https" && (base.Scheme != "http" || !isLoopback(base.Hostname())) {
		return nil, fmt.Errorf("GitHub base URL %q does not begin with https://: the token would go in the clear",
			short(text))
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	return base, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
