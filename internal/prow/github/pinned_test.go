package github

import (
	"net/http"
	"net/url"
	"testing"

	"salve/internal/apierr"
)

// TestRequestsToOthersAreRefused before the token is added: whatever a later change lets an address become.
func TestRequestsToOthersAreRefused(t *testing.T) {
	endpoint := &url.URL{Scheme: "https", Host: "ghe.example.com", Path: "/api/v3/"}
	for address, sent := range map[string]bool{
		"https://ghe.example.com/api/v3/repos/a/b":       true,
		"https://GHE.example.com/api/v3/repos/a/b":       true,
		"http://ghe.example.com/api/v3/repos/a/b":        false,
		"https://ghe.example.com:8443/api/v3/repos/a/b":  false,
		"https://evil.example.com/api/v3/repos/a/b":      false,
		"https://ghe.example.com/login":                  false,
		"https://root@ghe.example.com/api/v3/repos/a/b":  false,
		"https://ghe.example.com.evil/api/v3/repos/a/b":  false,
		"https://ghe.example.com@evil.com/api/v3/repo/a": false,
	} {
		wire := &counting{}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (&pinned{endpoint: endpoint, base: wire}).RoundTrip(request)
		if response != nil {
			_ = response.Body.Close()
		}
		if (wire.requests == 1) != sent || sent != (err == nil) || !sent && apierr.ClassOf(err) != apierr.Terminal {
			t.Errorf("%s: sent %d, %v", address, wire.requests, err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://ghe.example.com/api/v3/user", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example.com"
	wire := &counting{}
	response, err := (&pinned{endpoint: endpoint, base: wire}).RoundTrip(request)
	if response != nil {
		_ = response.Body.Close()
	}
	if err == nil || wire.requests != 0 {
		t.Error("a request with another host header was sent")
	}
}

// counting is a wire on which nothing travels.
type counting struct{ requests int }

func (c *counting) RoundTrip(*http.Request) (*http.Response, error) {
	c.requests++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}
