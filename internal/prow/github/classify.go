package github

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/apierr"
)

// ErrHidden is a 404 that may be the lack of a thing or of rights: GitHub does not tell
// (https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api).
var ErrHidden = errors.New("not found, or the token may not see it")

// ErrNotProtected is GitHub's word that a branch has no classic protection.
var ErrNotProtected = errors.New("branch not protected")

// ErrNotLimited is a GitHub Enterprise Server's word that it has no rate limit.
var ErrNotLimited = errors.New("rate limiting is not enabled")

// MovedError says that what was asked for is elsewhere: a repository was renamed or transferred, or a branch renamed.
// Nothing was followed.
type MovedError struct {
	// Path is what was asked for, Location is where GitHub pointed to.
	Path, Location string
	// Repo is the repository's new name; zero when it was not asked for, as Repository does.
	Repo Repo
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("moved: %s is now at %s: the repository or the branch was renamed. hint: use its new name",
		e.Path, e.Location)
}

// refusalError is an answer of GitHub's that is not the one that was asked for, as a text without secrets.
type refusalError struct {
	text  string
	cause error
}

func (e *refusalError) Error() string { return e.text }
func (e *refusalError) Unwrap() error { return e.cause }

// classify gives an error of go-github its class and a text without the token. What can't be told apart is Transient.
func (c *Client) classify(err error) error {
	if err == nil {
		return nil
	}
	var classed *apierr.Error
	if errors.As(err, &classed) {
		return &apierr.Error{
			Class: classed.Class, RetryAfter: classed.RetryAfter, Err: &refusalError{c.secrets.mask(classed.Error()), err},
		}
	}
	response, message := answerOf(err)
	if response == nil {
		return &apierr.Error{Class: apierr.Transient, Err: &refusalError{c.secrets.mask("no answer: " + err.Error()), err}}
	}
	refused := c.refusal(response, strings.TrimSpace(message))
	refused.Err = &refusalError{c.secrets.mask(refused.Err.Error()), refused.Err}
	return refused
}

// answerOf gives the answer that an error of go-github's is about.
func answerOf(err error) (response *http.Response, message string) {
	var (
		refused  *gogithub.ErrorResponse
		limited  *gogithub.RateLimitError
		abuse    *gogithub.AbuseRateLimitError
		redirect *gogithub.RedirectionError
		factor   *gogithub.TwoFactorAuthError
	)
	switch {
	case errors.As(err, &refused):
		return refused.Response, messageOf(refused)
	case errors.As(err, &limited):
		return limited.Response, limited.Message
	case errors.As(err, &abuse):
		return abuse.Response, abuse.Message
	case errors.As(err, &redirect):
		return redirect.Response, ""
	case errors.As(err, &factor):
		return factor.Response, factor.Message
	}
	return nil, ""
}

// messageOf joins what GitHub says, and what it says about the fields.
func messageOf(refused *gogithub.ErrorResponse) string {
	parts := []string{refused.Message}
	for _, one := range refused.Errors {
		part := strings.TrimSpace(strings.Join([]string{one.Resource, one.Field, one.Code, one.Message}, " "))
		if part != "" && len(parts) < 6 {
			parts = append(parts, part)
		}
	}
	return short(strings.Join(parts, "; "))
}

// refusal tells the class of an answer.
func (c *Client) refusal(response *http.Response, message string) *apierr.Error {
	asked := response.Request.Method + " " + response.Request.URL.Path
	said := fmt.Sprintf("%d %q to %s", response.StatusCode, message, short(asked))
	is := func(class apierr.Class, format string, args ...any) *apierr.Error {
		return &apierr.Error{Class: class, Err: fmt.Errorf(format, args...)}
	}
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized:
		return is(apierr.Denied, "unauthorized: %s. hint: the token is wrong, expired or revoked", said)
	case status == http.StatusForbidden, status == http.StatusTooManyRequests:
		return c.forbidden(response, message, said)
	case status == http.StatusNotFound && message == "Branch not protected":
		return is(apierr.Missing, "%w: %s", ErrNotProtected, said)
	case status == http.StatusNotFound && message == "Branch not found":
		return is(apierr.Missing, "branch not found: %s", said)
	case status == http.StatusNotFound && strings.HasPrefix(message, "Rate limiting is not enabled"):
		return is(apierr.Missing, "%w: %s", ErrNotLimited, said)
	case status == http.StatusNotFound:
		return is(apierr.Denied, "%w: %s", ErrHidden, said)
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		return is(apierr.Conflict, "conflict: %s", said)
	case status == http.StatusUnprocessableEntity:
		return is(apierr.Terminal, "validation failed: %s", said)
	case status >= 300 && status < 400:
		return is(apierr.Terminal, "%w", &MovedError{
			Path: short(response.Request.URL.Path), Location: short(response.Header.Get("Location")),
		})
	case status >= 400 && status < 500:
		return is(apierr.Terminal, "refused: %s", said)
	}
	stumbled := is(apierr.Transient, "server error: %s", said)
	if response.Header.Get("Retry-After") != "" {
		stumbled.RetryAfter = c.retryAfter(response.Header)
	}
	return stumbled
}

// forbidden tells the kinds of 403 and 429 apart.
func (c *Client) forbidden(response *http.Response, message, said string) *apierr.Error {
	header, lower := response.Header, strings.ToLower(message)
	is := func(class apierr.Class, wait time.Duration, format string) *apierr.Error {
		return &apierr.Error{Class: class, RetryAfter: wait, Err: fmt.Errorf(format, said)}
	}
	switch {
	case strings.Contains(lower, "secondary rate limit"), strings.Contains(lower, "abuse detection"),
		header.Get("Retry-After") != "":
		wait := c.retryAfter(header)
		c.budget.pause(wait)
		return is(apierr.Throttled, wait, "secondary rate limit: %s")
	case header.Get("X-Ratelimit-Remaining") == "0" && (message == "" || strings.Contains(lower, "rate limit")):
		return is(apierr.Throttled, untilReset(header, c.clock.Now()), "rate limit: %s")
	case response.StatusCode == http.StatusTooManyRequests:
		c.budget.pause(secondaryPause)
		return is(apierr.Throttled, secondaryPause, "rate limit: %s")
	case header.Get("X-Github-Sso") != "", strings.Contains(lower, "saml enforcement"):
		return is(apierr.Denied, 0, "forbidden: SAML single sign-on: %s. hint: authorize the token for the organization")
	case strings.Contains(lower, "upgrade to github"):
		return is(apierr.Denied, 0, "forbidden: upgrade required: %s. hint: the plan has no branch protection for this "+
			"private repository")
	}
	if needed := header.Get("X-Accepted-Github-Permissions"); needed != "" {
		said += ". hint: the token needs " + short(needed)
	}
	return is(apierr.Denied, 0, "forbidden: %s")
}

// retryAfter is how long GitHub asked to wait.
func (c *Client) retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds > 0 && seconds < 1<<20 {
		return time.Duration(seconds) * time.Second
	}
	if header.Get("X-Ratelimit-Remaining") == "0" {
		return untilReset(header, c.clock.Now())
	}
	return secondaryPause
}

// maxText bounds a text of GitHub's that is shown.
const maxText = 300

// short makes a text from outside fit to be shown: bounded, without control characters.
func short(text string) string {
	clean := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text))
	if len(clean) <= maxText {
		return string(clean)
	}
	return string(clean[:maxText-1]) + "…"
}
