//go:build linux

package liveconfig

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"salve/internal/clock"
)

const (
	method = "/akslivepatching.v1.LivePatchingService/GetComponentConfig"
	// protocol is what the front of the API server routes to the service by.
	protocol = "aks-live-patching"
)

// service is where one call goes.
type service struct {
	address     string // host and port
	name        string // that the certificate has to be for
	authorities *x509.CertPool
}

// call asks the service once, within the limit, and gives the text that it serves.
func (c *Client) call(ctx context.Context, to service, signature string) (string, error) {
	ctx, cancel := clock.WithTimeout(ctx, c.settings.Clock, c.settings.Limit)
	defer cancel()
	connection, err := to.dial(ctx)
	if err != nil {
		return "", ended(ctx, err)
	}
	defer connection.Close()
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+to.address+method,
		bytes.NewReader(request(c.settings.Component)))
	if err != nil {
		return "", err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/grpc", "Te": "trailers", "Grpc-Accept-Encoding": "identity",
		"Grpc-Timeout": fmt.Sprintf("%dm", c.settings.Limit.Milliseconds()), "User-Agent": "salve-node",
		"Authorization": signature,
	} {
		post.Header.Set(name, value)
	}
	response, err := over(connection).RoundTrip(post)
	if err != nil {
		return "", ended(ctx, err)
	}
	defer response.Body.Close()
	message, err := read(ctx, response)
	if err != nil {
		return "", err
	}
	decoded, err := decode(message)
	switch {
	case err != nil:
		return "", fmt.Errorf("the answer of the live service: %w", err)
	case decoded.component != "" && decoded.component != c.settings.Component:
		return "", fmt.Errorf("the answer of the live service is about %.60q, not %q", decoded.component,
			c.settings.Component)
	}
	return decoded.config, nil
}

// read gives the message of an answer whose status is good. The status comes after
// the message.
func read(ctx context.Context, response *http.Response) ([]byte, error) {
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"),
		"application/grpc") {
		return nil, statusOfHTTP(response)
	}
	message, malformed := oneMessage(response.Body)
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, maxMessage)); err != nil {
		return nil, ended(ctx, err)
	}
	if err := statusOf(response); err != nil {
		return nil, err
	}
	if malformed != nil {
		return nil, ended(ctx, malformed)
	}
	return message, nil
}

// over speaks HTTP/2 over one connection. By itself net/http would take
// «aks-live-patching» for a protocol that it doesn't know, and speak HTTP/1. So it
// gets the connection as one whose protocol was agreed on beforehand, which is so.
func over(connection net.Conn) *http.Transport {
	protocols := &http.Protocols{}
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{
		Protocols:              protocols,
		DialTLSContext:         func(context.Context, string, string) (net.Conn, error) { return agreed{connection}, nil },
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// agreed hides from net/http that a connection is encrypted.
type agreed struct{ net.Conn }

// dial connects straight, whatever proxy the environment names.
func (s service) dial(ctx context.Context) (net.Conn, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	connection := tls.Client(raw, s.tls())
	if err := connection.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	if connection.ConnectionState().NegotiatedProtocol == "" {
		_ = connection.Close()
		return nil, errors.New("the server agrees to neither " + protocol + " nor h2")
	}
	return connection, nil
}

// tls verifies by hand, because two names are in play: the front of the API server
// routes by its own name and would lead the service's elsewhere, and the
// certificate is the service's.
func (s service) tls() *tls.Config {
	host, _, _ := net.SplitHostPort(s.address)
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         host,
		NextProtos:         []string{protocol, "h2"},
		InsecureSkipVerify: true, //nolint:gosec // G402: VerifyConnection verifies, by the other name
		VerifyConnection: func(state tls.ConnectionState) error {
			intermediates := x509.NewCertPool()
			for _, certificate := range state.PeerCertificates[1:] {
				intermediates.AddCert(certificate)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
				DNSName: s.name, Roots: s.authorities, Intermediates: intermediates,
			})
			return err
		},
	}
}

// ended prefers to say that the time was over.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("the live service did not answer in time: %w", cause)
	}
	return fmt.Errorf("calling the live service: %w", err)
}
