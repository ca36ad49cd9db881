package azuresim

import (
	"net/http"
	"net/url"
	"strings"
)

// The identity endpoints are as much of a token service as a client-credentials flow needs. Any
// client and any secret do.

func discoverInstance(_ *World, asked *request) answer {
	host := strings.TrimPrefix(strings.TrimPrefix(asked.base, "https://"), "http://")
	return ok(map[string]any{
		"api-version":               "1.1",
		"tenant_discovery_endpoint": asked.base + "/" + tenant + "/v2.0/.well-known/openid-configuration",
		"metadata": []any{
			map[string]any{"preferred_network": host, "preferred_cache": host, "aliases": []string{host}},
		},
	})
}

func openIDConfiguration(_ *World, asked *request) answer {
	base := asked.base + "/" + url.PathEscape(asked.parameter("tenant"))
	return ok(map[string]any{
		"issuer":                                base + "/v2.0",
		"token_endpoint":                        base + "/oauth2/v2.0/token",
		"authorization_endpoint":                base + "/oauth2/v2.0/authorize",
		"jwks_uri":                              base + "/discovery/v2.0/keys", // MSAL for JavaScript insists on one
		"token_endpoint_auth_methods_supported": []string{"client_secret_post", "private_key_jwt"},
	})
}

// listKeys: tokens are not signed, so that there is no key to check them with.
func listKeys(*World, *request) answer { return ok(map[string]any{"keys": []any{}}) }

func issueToken(_ *World, asked *request) answer {
	form, err := url.ParseQuery(string(asked.body))
	if err != nil || form.Get("grant_type") != "client_credentials" || form.Get("client_id") == "" {
		return answer{status: http.StatusBadRequest, body: map[string]any{
			"error": "unsupported_grant_type", "error_description": "AADSTS70003: The app requested an unsupported grant type.",
		}}
	}
	return ok(map[string]any{
		"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599, "access_token": "embedded",
	})
}
