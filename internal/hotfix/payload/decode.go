//go:build linux

package payload

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// decode undoes an encoding. Its names are cloud-init's, with all their synonyms,
// in either case, and the word «none».
func decode(content, encoding string) ([]byte, error) {
	raw := []byte(content)
	var err error
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "none", "text/plain":
	case "gz", "gzip":
		raw, err = gunzip(raw)
	case "b64", "base64":
		raw, err = unbase64(content)
	case "gz+b64", "gz+base64", "gzip+b64", "gzip+base64":
		if raw, err = unbase64(content); err == nil {
			raw, err = gunzip(raw)
		}
	default:
		return nil, fmt.Errorf("encoding %.40q: it has to be none, gzip, base64 or gz+b64", encoding)
	}
	switch {
	case err != nil:
		return nil, err
	case len(raw) > MaxFile:
		return nil, errTooLarge
	}
	return raw, nil
}

var errTooLarge = fmt.Errorf("the content is larger than %d bytes", MaxFile)

func unbase64(content string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), ""))
	if err != nil {
		return nil, fmt.Errorf("the content is not base64: %w", err)
	}
	return raw, nil
}

// gunzip holds at most one byte more than a file may have, however small the
// content is that grows into it.
func gunzip(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("the content is not gzip: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(reader, MaxFile+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the gzipped content is cut off")
	case err != nil:
		return nil, fmt.Errorf("the content is not gzip: %w", err)
	case len(raw) > MaxFile:
		return nil, errTooLarge
	}
	return raw, nil
}
