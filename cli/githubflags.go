package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"salve/internal/clock"
	"salve/internal/prow/github"
)

// githubPatience is how long one read waits for GitHub's limit: less than a guard may take.
const githubPatience = 4 * time.Minute

// githubFlags lead to a GitHub. None of them is journaled: a record names no address that a token goes to.
type githubFlags struct {
	endpoint, tokenFile string
	reserve             int

	flags  *pflag.FlagSet
	lookup func(name string) string
	client *github.Client
}

func (g *githubFlags) addFlags(flags *pflag.FlagSet) {
	g.flags = flags
	flags.StringVar(&g.endpoint, "github-endpoint", "",
		"base `URL` of the API of a GitHub Enterprise Server (GITHUB_API_URL; default: "+github.DefaultBaseURL+")")
	flags.StringVar(&g.tokenFile, "github-token-file", "", "`file` with the token (default: GITHUB_TOKEN)")
	flags.IntVar(&g.reserve, "github-reserve", 100, "calls of the rate limit that are left to others")
}

// given tells whether the user gave one of these flags, or one of the others that are named.
func (g *githubFlags) given(others ...string) bool {
	return slices.ContainsFunc(append(others, "github-endpoint", "github-token-file", "github-reserve"), g.flags.Changed)
}

// read takes what no flag gave from the environment.
func (g *githubFlags) read(lookup func(name string) string) error {
	g.lookup = lookup
	if g.endpoint == "" {
		g.endpoint = lookup("GITHUB_API_URL")
	}
	if g.endpoint == "" {
		g.endpoint = github.DefaultBaseURL
	}
	if g.reserve < 0 {
		return usage("invalid --github-reserve %d: it must be 0 or more", g.reserve)
	}
	return nil
}

// open makes the client, once: what one reading has read, the next one gets for nothing.
func (g *githubFlags) open() (*github.Client, error) { return g.openWaiting(githubPatience) }

// openWaiting makes the client, once, with how long one read waits for GitHub's limit at most.
func (g *githubFlags) openWaiting(patience time.Duration) (*github.Client, error) {
	if g.client != nil {
		return g.client, nil
	}
	source := github.TokenFromFile(g.tokenFile)
	if g.tokenFile == "" {
		source = github.TokenFunc(g.tokenOfEnvironment)
	}
	client, err := github.New(github.Options{
		BaseURL: g.endpoint, Token: source, Clock: clock.Real{}, Reserve: g.reserve, MaxWait: patience,
	})
	if err != nil {
		return nil, err
	}
	g.client = client
	return client, nil
}

func (g *githubFlags) tokenOfEnvironment(context.Context) (string, error) {
	token := g.lookup("GITHUB_TOKEN")
	if token == "" {
		return "", errors.New("no GitHub token. hint: export GITHUB_TOKEN=…, or --github-token-file FILE")
	}
	return token, nil
}
