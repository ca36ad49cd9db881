package permit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"salve/internal/permit"
)

// TestCredentialsInPathsAreNotNoted: the audit trail is read by more people than the credential is for.
func TestCredentialsInPathsAreNotNoted(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var noted []permit.Request
	ctx := permit.NewContext(t.Context(), permit.Mint(permit.Terms{
		Now: time.Now, Expires: time.Now().Add(time.Hour), Lease: func(context.Context) error { return nil },
		Note: func(sent permit.Request) func(permit.Request) {
			noted = append(noted, sent)
			return func(answer permit.Request) { noted = append(noted, answer) }
		},
	}))
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL+"/hooks/password%3Dhunter2?code=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&permit.Transport{Base: http.DefaultTransport}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if len(noted) != 2 {
		t.Fatalf("%d notes", len(noted))
	}
	for _, one := range noted {
		if one.Path != "/hooks/[redacted]" {
			t.Errorf("noted %q", one.Path)
		}
	}
}
