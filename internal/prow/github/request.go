package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
)

// perPage is the largest page that GitHub gives.
const perPage = 100

// pathOf joins segments into a path below the base URL. Each is escaped as one segment: a branch "feature/ä#1" is one.
func pathOf(segments ...string) string {
	escaped := make([]string, len(segments))
	for i, segment := range segments {
		escaped[i] = url.PathEscape(segment)
	}
	return strings.Join(escaped, "/")
}

// get does a read and decodes the answer. It is repeated while GitHub stumbles, and waits for the rate limit as far as
// the options allow.
func (c *Client) get(ctx context.Context, doing, path string, into any) (*gogithub.Response, error) {
	var response *gogithub.Response
	err := c.patient(ctx, func(ctx context.Context) error {
		raw, answered, err := c.send(ctx, http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		response = answered
		if err := json.Unmarshal(raw, into); err != nil {
			return apierr.New(apierr.Terminal, "answer to GET %s can't be decoded: %w", short(path), err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return response, nil
}

// send sends one request, gives the JSON of the answer, and classifies its error.
func (c *Client) send(ctx context.Context, method, path string, body any) (
	raw json.RawMessage, response *gogithub.Response, err error,
) {
	request, err := c.api.NewRequest(ctx, method, path, body)
	if err != nil {
		return nil, nil, apierr.New(apierr.Terminal, "request %s %s: %w", method, short(path), err)
	}
	response, err = c.api.Do(request, &raw)
	if err != nil && response != nil && response.StatusCode < 300 {
		// Headers came, and the body did not, or it is not JSON.
		err = &apierr.Error{
			Class: bodyClass(method, err), Err: fmt.Errorf("answer to %s %s can't be read: %w", method, short(path), err),
		}
	}
	if err != nil {
		return nil, nil, c.classify(err)
	}
	return raw, response, nil
}

// bodyClass is the class of an answer whose body could not be read. A read is worth another try, unless its body is
// whole and no JSON; a change may have happened. That JSON ends too early encoding/json says by its text alone.
func bodyClass(method string, err error) apierr.Class {
	var syntax *json.SyntaxError
	var classed *apierr.Error
	switch {
	case errors.As(err, &classed):
		return classed.Class
	case method == http.MethodGet && errors.As(err, &syntax) && !strings.Contains(syntax.Error(), "unexpected end"):
		return apierr.Terminal
	}
	return apierr.Transient
}

// patient repeats a read while it fails with class Transient, and waits out the rate limit within MaxWait.
func (c *Client) patient(ctx context.Context, read func(context.Context) error) error {
	began := c.clock.Now()
	for {
		var refused error
		err := backoff.Retry(ctx, c.clock, func(ctx context.Context) error {
			err := read(ctx)
			if apierr.ClassOf(err) == apierr.Throttled {
				refused = err
				return nil // waiting for a limit is not bounded as repeating is
			}
			refused = nil
			return err
		})
		if err != nil || refused == nil {
			return err
		}
		wait := max(apierr.RetryAfter(refused), backoff.Refusals().First)
		if c.clock.Since(began)+wait > c.maxWait || clock.Sleep(ctx, c.clock, wait) != nil {
			return refused
		}
	}
}

// change sends one change, once. The transport asks for the permit in the context. An answer of GitHub's that can't
// be read, or none, means that it may have happened.
func (c *Client) change(ctx context.Context, doing, method, path string, body any) (json.RawMessage, error) {
	if err := c.space(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	var answer json.RawMessage
	err := backoff.Once(ctx, c.clock, func(ctx context.Context) (err error) {
		answer, _, err = c.send(ctx, method, path, body)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return answer, nil
}

// space keeps the interval between changes. Nothing was sent when it fails.
func (c *Client) space(ctx context.Context) error {
	c.changes.Lock()
	turn := c.clock.Now()
	if next := c.lastChange.Add(c.interval); next.After(turn) {
		turn = next
	}
	c.lastChange = turn
	c.changes.Unlock()
	if err := clock.Sleep(ctx, c.clock, turn.Sub(c.clock.Now())); err != nil {
		return &apierr.Error{Class: apierr.Throttled, Err: fmt.Errorf("nothing was sent: %w", err)}
	}
	return nil
}

// eachPage reads a list page by page until GitHub has said that there is no more: by a page that isn't full and has no
// next one. A page that fails is an error, and so is a list longer than the bound.
func eachPage[T any](
	ctx context.Context, c *Client, doing, path string, query url.Values, each func(T) (int, error),
) error {
	if query == nil {
		query = url.Values{}
	}
	query.Set("per_page", strconv.Itoa(perPage))
	for page := 1; ; page++ {
		if page > c.maxPage {
			return fmt.Errorf("%s: %w", doing, apierr.New(apierr.Terminal, "list has more than %d pages", c.maxPage))
		}
		query.Set("page", strconv.Itoa(page))
		var decoded T
		response, err := c.get(ctx, doing, path+"?"+query.Encode(), &decoded)
		if err != nil {
			return err
		}
		n, err := each(decoded)
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		if response.NextPage == 0 && n < perPage {
			return nil
		}
		if n == 0 && response.NextPage != 0 && response.NextPage != page+1 {
			return fmt.Errorf("%s: %w", doing, apierr.New(apierr.Transient, "page %d is empty and leads to page %d", page,
				response.NextPage))
		}
	}
}

// otherObject is an answer about something else than was asked for. It tells nothing about what was.
func otherObject(kind, wanted, got string) error {
	return apierr.New(apierr.Transient, "unexpected object: asked for %s %q, got %q", kind, short(wanted), short(got))
}
