package comment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"

	"salve/internal/apierr"
)

// classify gives an error of go-github its class, and a text without the token.
func (p *Poster) classify(err error) error {
	var refused *github.ErrorResponse
	var limited *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	var moved *github.RedirectionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limited):
		return p.refusal(limited.Response, limited.Message)
	case errors.As(err, &abuse):
		return p.refusal(abuse.Response, abuse.Message)
	case errors.As(err, &refused):
		return p.refusal(refused.Response, refused.Message)
	case errors.As(err, &moved):
		return p.refusal(moved.Response, "")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &apierr.Error{Class: apierr.Transient, Err: fmt.Errorf("no answer: %w", err)}
	}
	// The address is in the text, and whatever else a transport says.
	return apierr.New(apierr.Transient, "no answer: %s", short(strings.ReplaceAll(err.Error(), p.token, "***")))
}

func (p *Poster) refusal(response *http.Response, message string) error {
	status, header := response.StatusCode, response.Header
	said := short(strings.ReplaceAll(fmt.Sprintf("%d %q", status, strings.TrimSpace(message)), p.token, "***"))
	lower := strings.ToLower(message)
	switch {
	case status == http.StatusUnauthorized:
		return apierr.New(apierr.Denied, "unauthorized: %s. hint: the token is wrong, expired or revoked", said)
	case status == http.StatusTooManyRequests,
		status == http.StatusForbidden && (strings.Contains(lower, "rate limit") ||
			strings.Contains(lower, "abuse detection") || header.Get("Retry-After") != ""):
		return &apierr.Error{
			Class: apierr.Throttled, RetryAfter: p.retryAfter(header), Err: fmt.Errorf("rate limit: %s", said),
		}
	case status == http.StatusForbidden:
		if needed := header.Get("X-Accepted-Github-Permissions"); needed != "" {
			said += ". hint: the token needs " + short(needed)
		}
		return apierr.New(apierr.Denied, "forbidden: %s", said)
	case status == http.StatusNotFound:
		return apierr.New(apierr.Denied, "not found, or the token may not see it: %s", said)
	case status == http.StatusConflict:
		return apierr.New(apierr.Conflict, "conflict: %s", said)
	case status >= 300 && status < 400:
		return apierr.New(apierr.Terminal, "moved: %s. hint: the repository was renamed: use its new name", said)
	case status >= 400 && status < 500:
		return apierr.New(apierr.Terminal, "refused: %s", said)
	}
	return apierr.New(apierr.Transient, "server error: %s", said)
}

// secondaryPause is what GitHub asks for where it says no time
// (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api).
const secondaryPause = time.Minute

func (p *Poster) retryAfter(header http.Header) time.Duration {
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds > 0 && seconds < 1<<20 {
		return time.Duration(seconds) * time.Second
	}
	reset, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64)
	if err == nil && header.Get("X-Ratelimit-Remaining") == "0" {
		return max(time.Unix(reset, 0).Sub(p.clock.Now()), time.Second)
	}
	return secondaryPause
}

// short makes a text from outside fit to be shown.
func short(text string) string {
	const most = 300
	clean := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text))
	if len(clean) <= most {
		return string(clean)
	}
	return string(clean[:most-1]) + "…"
}
