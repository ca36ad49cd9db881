package comment

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/google/go-github/v92/github"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/permit"
)

const (
	defaultBaseURL = "https://api.github.com/"
	// maximumBody is GitHub's bound, in characters; bytes are never fewer.
	maximumBody  = 65536
	perPage      = 100
	maximumPages = 50
)

// Options say where to post, and as whom.
type Options struct {
	// BaseURL is where the REST API is: empty for github.com, https://HOST/api/v3/ for a GitHub Enterprise Server.
	BaseURL string
	// Access says in which repository comments may be written; required.
	Access permit.CommentAccess
	// Token is the credential; required.
	Token string
	// Author is the account that the token writes as, such as github-actions[bot]. Empty: GitHub is asked, which the
	// token of an app's installation may not do.
	Author string
	// Transport sends the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Clock is the real one when nil.
	Clock clock.Clock
}

// Poster posts with one token.
type Poster struct {
	api    *github.Client
	clock  clock.Clock
	author string
	token  string
}

// New makes a poster. It makes no call.
func New(o Options) (*Poster, error) {
	base, err := endpoint(cmp.Or(o.BaseURL, defaultBaseURL))
	if err != nil {
		return nil, err
	}
	if o.Token == "" || strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("GitHub token is empty, or has characters that none has. hint: export GITHUB_TOKEN=…")
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	api, err := github.NewClient(
		github.WithHTTPClient(&http.Client{
			Transport:     &permit.Transport{Base: o.Transport, Exempt: exempt(base, o.Access)},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		github.WithAuthToken(o.Token), github.WithURLs(&base, &base), github.WithUserAgent("salve"),
		github.WithDisableRateLimitCheck(), // the server says it
	)
	if err != nil {
		return nil, fmt.Errorf("making the GitHub client: %w", err)
	}
	return &Poster{api: api, clock: o.Clock, author: o.Author, token: o.Token}, nil
}

// endpoint checks a base URL: the token goes there with each request, and in the clear to this host only.
func endpoint(text string) (string, error) {
	base, err := url.Parse(text)
	if err != nil || base.Hostname() == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return "", errors.New("GitHub base URL is not the URL of an API, such as https://HOST/api/v3/")
	}
	ip := net.ParseIP(base.Hostname())
	here := base.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if base.Scheme != "https" && (base.Scheme != "http" || !here) {
		return "", fmt.Errorf("GitHub base URL %q does not begin with https://: the token would go in the clear",
			short(text))
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	return base.String(), nil
}

// Target is a pull request, or an issue.
type Target struct {
	Owner, Repo string
	Number      int
}

func (t Target) String() string { return fmt.Sprintf("%s/%s#%d", t.Owner, t.Repo, t.Number) }

var segment = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$|^\.[A-Za-z0-9_-][A-Za-z0-9_.-]{0,98}$`)

// check refuses, before anything is sent, what GitHub would refuse or what would be another comment than is meant.
func check(t Target, marker, body string) error {
	first, _, _ := strings.Cut(body, "\n")
	switch {
	case !segment.MatchString(t.Owner) || !segment.MatchString(t.Repo) || t.Number <= 0:
		return apierr.New(apierr.Terminal, "%q is no pull request", short(t.String()))
	case !strings.HasPrefix(marker, "<!-- ") || strings.Contains(marker, "-->") || strings.Contains(marker, "\n"):
		return apierr.New(apierr.Terminal, "marker %q does not begin an HTML comment", short(marker))
	case !marked(body, marker):
		return apierr.New(apierr.Terminal, "the report's first line is not its marker: %q", short(first))
	case len(body) > maximumBody:
		return apierr.New(apierr.Terminal, "comment of %d bytes: expected %d at most", len(body), maximumBody)
	}
	return nil
}

// marked is whether a text's first line is a whole marker.
func marked(body, marker string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(body, "\ufeff"), "\n")
	return strings.HasPrefix(first, marker) && strings.HasSuffix(strings.TrimSpace(first), "-->")
}
