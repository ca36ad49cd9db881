//go:build linux

package liveconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"salve/internal/clock"
)

const (
	signatureTries = 2
	maxDocument    = 1 << 20 // bytes
)

// signature asks the metadata service for the signed document about this machine;
// its signature is what the live service knows a node by.
func (c *Client) signature(ctx context.Context) (string, error) {
	// The metadata service is on the machine's own link: there is no proxy to it.
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	var failures []error
	for range signatureTries {
		signature, err := c.signatureOnce(ctx, transport)
		if err == nil {
			return signature, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return "", fmt.Errorf("the metadata service: %w", errors.Join(failures...))
}

func (c *Client) signatureOnce(ctx context.Context, transport *http.Transport) (string, error) {
	ctx, cancel := clock.WithTimeout(ctx, c.settings.Clock, c.settings.MetadataLimit)
	defer cancel()
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, c.settings.Metadata, nil)
	if err != nil {
		return "", err
	}
	get.Header.Set("Metadata", "true")
	response, err := transport.RoundTrip(get)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", errors.New("it answers " + response.Status)
	}
	var document struct {
		Signature string `json:"signature"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxDocument)).Decode(&document); err != nil {
		return "", fmt.Errorf("its document: %w", err)
	}
	if document.Signature == "" {
		return "", errors.New("its document has no signature")
	}
	return document.Signature, nil
}
