package registry_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/internal/registry"
)

// answers is the wire, with one answer for all.
type answers struct {
	status int
	body   string
	asked  []*http.Request
	form   string
}

func (a *answers) RoundTrip(request *http.Request) (*http.Response, error) {
	a.asked = append(a.asked, request)
	if request.Body != nil {
		raw, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		a.form = string(raw)
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewBufferString(a.body)),
		Request: request}, nil
}

func azureOf(wire *answers) registry.Azure {
	return registry.Azure{
		Token:     func(_ context.Context, scope string) (string, error) { return "token-for-" + scope, nil },
		Transport: wire, RegistrySuffix: "azurecr.io", VaultSuffix: "vault.azure.net",
	}
}

func TestLoginExchangesATokenForOneOfTheRegistry(t *testing.T) {
	wire := &answers{status: http.StatusOK, body: `{"refresh_token":"r-1"}`}
	login, err := azureOf(wire).Login(t.Context(), "fleet.azurecr.io")
	if err != nil {
		t.Fatal(err)
	}
	config, err := login.Authorization()
	if err != nil || config.Password != "r-1" || config.Username != "00000000-0000-0000-0000-000000000000" {
		t.Errorf("%+v, %v", config, err)
	}
	if where := wire.asked[0].URL.String(); where != "https://fleet.azurecr.io/oauth2/exchange" ||
		!strings.Contains(wire.form, "grant_type=access_token") || !strings.Contains(wire.form, "service=fleet.azurecr.io") ||
		!strings.Contains(wire.form, "containerregistry.azure.net") {
		t.Errorf("it asked %s with %s", where, wire.form)
	}
}

// TestATokenOfEntraGoesToRegistriesOfTheCloudAlone, whatever a pipeline calls a registry.
func TestATokenOfEntraGoesToRegistriesOfTheCloudAlone(t *testing.T) {
	for _, host := range []string{"quay.io", "azurecr.io", "azurecr.io.evil.example", "fleet.azurecr.io:8443",
		"evil.example/fleet.azurecr.io", ".azurecr.io"} {
		wire := &answers{status: http.StatusOK, body: `{"refresh_token":"r-1"}`}
		if _, err := azureOf(wire).Login(t.Context(), host); err == nil || len(wire.asked) > 0 {
			t.Errorf("%s: %v, after %d requests", host, err, len(wire.asked))
		}
	}
}

func TestLoginFails(t *testing.T) {
	for body, wire := range map[string]*answers{
		"HTTP 401":      {status: http.StatusUnauthorized, body: "secret-text"},
		"holds none":    {status: http.StatusOK, body: `{}`},
		"is no JSON":    {status: http.StatusOK, body: `secret-text`},
		"has more than": {status: http.StatusOK, body: strings.Repeat("x", 300<<10)},
		"HTTP 307":      {status: http.StatusTemporaryRedirect},
	} {
		_, err := azureOf(wire).Login(t.Context(), "fleet.azurecr.io")
		if err == nil || !strings.Contains(err.Error(), body) || strings.Contains(err.Error(), "secret-text") {
			t.Errorf("want %q: %v", body, err)
		}
	}
}

func TestPullSecret(t *testing.T) {
	plain := `{"auths":{"quay.io":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("robot:hush")) + `"},` +
		`"https://registry.example/v1/":{"username":"u","password":"p"}}}`
	vaulted := func(text string) string { return `{"value":"` + strings.ReplaceAll(text, `"`, `\"`) + `"}` }
	for rule, test := range map[string]struct{ value, host, user, wrong string }{
		"a docker configuration":          {plain, "quay.io", "robot", ""},
		"in base64, as vaults keep files": {base64.StdEncoding.EncodeToString([]byte(plain)), "quay.io", "robot", ""},
		"with the address of old":         {plain, "registry.example", "u", ""},
		"another host gets nothing":       {plain, "registry.other", "", "holds nothing for registry registry.other"},
		"what is none is not shown":       {"hush", "quay.io", "", "is no docker configuration"},
	} {
		t.Run(rule, func(t *testing.T) {
			wire := &answers{status: http.StatusOK, body: vaulted(test.value)}
			login, err := azureOf(wire).PullSecret(t.Context(), "kv", "pull", test.host)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) || strings.Contains(err.Error(), "hush") {
					t.Errorf("it says %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if config, err := login.Authorization(); err != nil || config.Username != test.user {
				t.Errorf("%+v, %v", config, err)
			}
			if where := wire.asked[0].URL.String(); where != "https://kv.vault.azure.net/secrets/pull?api-version=7.4" {
				t.Errorf("it asked %s", where)
			}
		})
	}
	for _, vault := range []string{"", "evil.example", "kv/x", "kv#", "kv?"} {
		wire := &answers{status: http.StatusOK, body: vaulted(plain)}
		_, err := azureOf(wire).PullSecret(t.Context(), vault, "pull", "quay.io")
		if apierr.ClassOf(err) != apierr.Terminal || len(wire.asked) > 0 {
			t.Errorf("vault %q: %v, after %d requests", vault, err, len(wire.asked))
		}
	}
}
