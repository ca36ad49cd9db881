package github

import (
	"context"
	"strings"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/apierr"
)

// Identity is who the token speaks for.
type Identity struct {
	// Login is the user's.
	Login string
	// Bot tells an account of an app from a person's.
	Bot bool
	// Scopes are those of a classic token; none for a fine-grained one, which GitHub does not describe.
	Scopes []string
}

// Identity asks who the token speaks for. The token of an app's installation has no user: that is an error of class
// Denied.
func (c *Client) Identity(ctx context.Context) (Identity, error) {
	const doing = "asking who the token speaks for"
	var user gogithub.User
	response, err := c.get(ctx, doing, "user", &user)
	if err != nil {
		return Identity{}, err
	}
	if user.GetLogin() == "" {
		return Identity{}, apierr.New(apierr.Terminal, "%s: unexpected answer: a user without a login", doing)
	}
	who := Identity{Login: user.GetLogin(), Bot: user.GetType() == "Bot"}
	for scope := range strings.SplitSeq(response.Header.Get("X-Oauth-Scopes"), ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			who.Scopes = append(who.Scopes, short(scope))
		}
	}
	return who, nil
}

// Remaining is what is left of the rate limit by the last answers. It makes no call.
func (c *Client) Remaining() Rate { return c.budget.look() }

// RateLimits are what GitHub says is left.
type RateLimits struct{ Core, GraphQL Rate }

// RateLimits asks what is left. The question is not counted. It fails with ErrNotLimited where there is no limit.
func (c *Client) RateLimits(ctx context.Context) (RateLimits, error) {
	type window struct {
		Limit     int   `json:"limit"`
		Remaining int   `json:"remaining"`
		Reset     int64 `json:"reset"`
	}
	var answer struct {
		Resources map[string]window `json:"resources"`
	}
	response, err := c.get(ctx, "reading the rate limit", "rate_limit", &answer)
	if err != nil {
		return RateLimits{}, err
	}
	core, graphql := answer.Resources["core"], answer.Resources["graphql"]
	if core.Limit == 0 {
		return RateLimits{}, apierr.New(apierr.Terminal, "reading the rate limit: unexpected answer: no limit")
	}
	c.budget.learn(core.Limit, core.Remaining, core.Reset, response.Header)
	return RateLimits{
		Core:    c.budget.rateOf(core.Limit, core.Remaining, core.Reset, response.Header),
		GraphQL: c.budget.rateOf(graphql.Limit, graphql.Remaining, graphql.Reset, response.Header),
	}, nil
}
