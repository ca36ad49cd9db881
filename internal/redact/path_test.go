package redact

import "testing"

func TestPathsAreMasked(t *testing.T) {
	for given, want := range map[string]string{
		"/subscriptions/5a1e0000-0000-4000-8000-000000000001/resourceGroups/fleet": "",
		"/api/v1/namespaces/ops/secrets/api-token":                                 "",
		"/repos/o/r/branches/release%2F1.2/protection":                             "",
		"":                                    "",
		"/hooks/" + token + "/run":            "/hooks/[redacted]/run",
		"/hooks/ghp_0123456789abcdefghij0123": "/hooks/[redacted]",
		"/v1/Bearer%20abcdefgh12345678/x":     "/v1/[redacted]/x",
		"/v1/password%3Dhunter2/x":            "/v1/[redacted]/x",
		"/v1/%70assword%3dhunter2":            "/v1/[redacted]",
		"/services/T0123ABCD/B0123ABCD/abcdefghijklmnopqrstuvwx": "/services/T0123ABCD/B0123ABCD/[redacted]",
		"/bad%zzescape/" + token:                                 "/bad%zzescape/[redacted]",
	} {
		if want == "" {
			want = given
		}
		if got := Path(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

// TestAddressesInErrorsAreMasked: net/http puts the whole URL into its errors.
func TestAddressesInErrorsAreMasked(t *testing.T) {
	for given, want := range map[string]string{
		`Get "https://f.azurewebsites.net/api/f?code=abcdEFGH1234567890%3D%3D&x=1": EOF`:            `Get "https://f.azurewebsites.net/api/f?code=[redacted]&x=1": EOF`,
		`Put "https://s3/b?X-Amz-Credential=AB%2F20&X-Amz-Signature=0123abcd": EOF`:                 `Put "https://s3/b?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]": EOF`,
		`Get "https://g/b?X-Goog-Signature=0123abcd&a=b": EOF`:                                      `Get "https://g/b?X-Goog-Signature=[redacted]&a=b": EOF`,
		`Get "https://c/b?Signature=0123abcd~&Key-Pair-Id=APKA": EOF`:                               `Get "https://c/b?Signature=[redacted]&Key-Pair-Id=APKA": EOF`,
		`{"u":"https://a/b?subscription-key=0123abcd\u0026a=b"}`:                                    `{"u":"https://a/b?subscription-key=[redacted]\u0026a=b"}`,
		`{"u":"https://a/b?a=b\u0026sig=0123abcd"}`:                                                 `{"u":"https://a/b?a=b\u0026sig=[redacted]"}`,
		`Post "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/abcdefghijklmnopqrstuvwx": EOF`: `Post "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/[redacted]": EOF`,
		`Post "https://discord.com/api/webhooks/123456/abc-DEF_0123456789": EOF`:                    `Post "https://discord.com/api/webhooks/123456/[redacted]": EOF`,
		`Post "https://x.webhook.office.com/webhookb2/a@b/IncomingWebhook/0123456789abcdef/c": EOF`: `Post "https://x.webhook.office.com/webhookb2/[redacted]": EOF`,
		`Get "https://a/b?api-version=2024-05-01&code=200&key=name": EOF`:                           `Get "https://a/b?api-version=2024-05-01&code=200&key=name": EOF`,
	} {
		if got := String(given); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
