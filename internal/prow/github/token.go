package github

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"salve/internal/apierr"
	"salve/internal/redact"
)

// tokenLimit bounds a file that holds a token: the longest, of an app's installation, have some hundred bytes.
const tokenLimit = 16 << 10

// TokenSource gives the credential for each request. It may change between two: an app's tokens last an hour, and a
// mounted Secret is written anew.
type TokenSource interface {
	Token(context.Context) (string, error)
}

// TokenFunc is a TokenSource.
type TokenFunc func(context.Context) (string, error)

// Token calls the function.
func (f TokenFunc) Token(ctx context.Context) (string, error) { return f(ctx) }

// TokenFromFile reads the token from a file with each request.
func TokenFromFile(path string) TokenSource {
	return TokenFunc(func(context.Context) (string, error) {
		file, err := os.Open(path) //nolint:gosec // the user named the file
		if err != nil {
			return "", fmt.Errorf("reading the GitHub token: %w", err)
		}
		defer file.Close()
		raw, err := io.ReadAll(io.LimitReader(file, tokenLimit+1))
		if err != nil {
			return "", fmt.Errorf("reading the GitHub token: %w", err)
		}
		if len(raw) > tokenLimit {
			return "", fmt.Errorf("reading the GitHub token: file %q is larger than %d bytes", path, tokenLimit)
		}
		return string(raw), nil
	})
}

// TokenFromEnvironment reads the token from an environment variable, such as GITHUB_TOKEN.
func TokenFromEnvironment(name string) TokenSource {
	return TokenFunc(func(context.Context) (string, error) {
		token, ok := os.LookupEnv(name)
		if !ok {
			return "", fmt.Errorf("environment variable %s is not set. hint: export %s=…", name, name)
		}
		return token, nil
	})
}

// checkToken gives a token without the white space around it. What can't stand in a header is an error that does not
// show it.
func checkToken(token string) (string, error) {
	token = strings.TrimSpace(token)
	if token == "" {
		return "", apierr.New(apierr.Denied, "GitHub token is empty")
	}
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return "", apierr.New(apierr.Denied, "GitHub token holds a character that no token has")
		}
	}
	return token, nil
}

// masker takes the tokens that were used out of texts, and what else looks like a credential.
type masker struct {
	lock   sync.Mutex
	tokens []string
}

// maskedTokens is how many tokens are remembered: those of the last hours.
const maskedTokens = 8

func (m *masker) remember(token string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, known := range m.tokens {
		if known == token {
			return
		}
	}
	m.tokens = append(m.tokens, token)
	if len(m.tokens) > maskedTokens {
		m.tokens = m.tokens[1:]
	}
}

func (m *masker) mask(text string) string {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, token := range m.tokens {
		text = strings.ReplaceAll(text, token, "[redacted]")
	}
	return redact.String(text)
}
