package prepublish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/hotfix/archive"
	"salve/internal/hotfix/fetch"
)

// maxIndex bounds an index, in bytes, compressed and opened.
const maxIndex = 512 << 20

// read gives the contents of an address to use, at most limit bytes of them.
func (r *Reader) read(ctx context.Context, address string, limit int64, use func(io.Reader) error) error {
	return backoff.Retry(ctx, r.clock, func(ctx context.Context) error {
		get, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		answer, err := r.client.Do(get)
		switch {
		case errors.Is(err, fetch.ErrNotFollowed):
			return apierr.New(apierr.Terminal, "%s: %w", Shown(address), withoutURL(err))
		case err != nil:
			return apierr.New(apierr.Transient, "%s: %w", Shown(address), withoutURL(err))
		}
		defer answer.Body.Close()
		if class := classOf(answer.StatusCode); class != "" {
			return apierr.New(class, "%s answers %s", Shown(address), answer.Status)
		}
		content := &content{from: answer.Body, left: limit}
		if err := use(content); err != nil {
			if content.lost != nil {
				return apierr.New(apierr.Transient, "%s: %w", Shown(address), content.lost)
			}
			return err
		}
		return nil
	})
}

// classOf is the fault of an answer of HTTP, or empty.
func classOf(code int) apierr.Class {
	switch {
	case code == http.StatusOK:
		return ""
	case code == http.StatusNotFound, code == http.StatusGone:
		return apierr.Missing
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return apierr.Denied
	case code == http.StatusTooManyRequests:
		return apierr.Throttled
	case code >= 500, code == http.StatusRequestTimeout:
		return apierr.Transient
	}
	return apierr.Terminal
}

// content is a bounded body that remembers when the connection broke.
type content struct {
	from io.Reader
	left int64
	lost error
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.lost = err
	}
	if c.left -= int64(n); c.left < 0 {
		return 0, archive.ErrTooLarge
	}
	return n, err
}

// whole reads a small index.
func (r *Reader) whole(ctx context.Context, address string) (raw []byte, err error) {
	const small = 16 << 20
	err = r.read(ctx, address, small, func(content io.Reader) (err error) {
		raw, err = io.ReadAll(content)
		return err
	})
	return raw, err
}

// verified reads an index whose digest another one gives, and opens it.
func (r *Reader) verified(ctx context.Context, address, sha256Of string, use func(io.Reader) error) error {
	var raw bytes.Buffer
	err := r.read(ctx, address, maxIndex, func(content io.Reader) error {
		raw.Reset()
		_, err := raw.ReadFrom(content)
		return err
	})
	if err != nil {
		return err
	}
	digest := sha256.Sum256(raw.Bytes())
	if got := hex.EncodeToString(digest[:]); got != sha256Of {
		return fmt.Errorf("%s: its SHA-256 is %s, the repository says %s", Shown(address), got, sha256Of)
	}
	opened, err := archive.Decompress(ctx, &raw, maxIndex)
	if err != nil {
		return err
	}
	defer opened.Close()
	return use(opened)
}

// withoutURL takes the address out of an error: its query may be a secret.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
