package redact_test

import (
	"testing"

	"salve/internal/redact"
)

func TestRedact(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"a JSON web token":          {`got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln done`, `got [redacted] done`},
		"a bearer header":           {`Authorization: Bearer abcdef0123456789`, `Authorization: Bearer [redacted]`},
		"a shared-access signature": {`https://x/y?se=1&sig=abc%2Fdef&sv=2`, `https://x/y?se=1&sig=[redacted]&sv=2`},
		"a client secret in a form": {`client_id=1&client_secret=s3cr3t&scope=x`,
			`client_id=1&client_secret=[redacted]&scope=x`},
		"a client secret in JSON": {`{"client_secret":"s3cr3t"}`, `{"client_secret":"[redacted]"}`},
		"a signature in JSON": {`"https://x/y?se=1\u0026sig=abcSECRET\u0026sv=2"`,
			`"https://x/y?se=1\u0026sig=[redacted]\u0026sv=2"`},
		"a secret in JSON in JSON": {`"{\"client_secret\":\"SECRET\"}"`, `"{\"client_secret\":\"[redacted]\"}"`},
		"a password with a space":  {`"{\"password\": \"SECRET\"}"`, `"{\"password\": \"[redacted]\"}"`},
		"a private key": {"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END",
			"-----BEGIN RSA PRIVATE KEY-----[redacted]-----END"},
		"the key of a storage " +
			"account": {`DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Zm9vYmFyYmF6cXV4==;EndpointSuffix=x`,
			`DefaultEndpointsProtocol=https;AccountName=a;AccountKey=[redacted];EndpointSuffix=x`},
		"the key of a service bus": {`Endpoint=sb://x/;SharedAccessKey=Zm9vYmFyYmF6cXV4=`,
			`Endpoint=sb://x/;SharedAccessKey=[redacted]`},
		"a token of GitHub":        {`GH=ghp_abcdefghijklmnopqrstuvwxyz0123456789 ok`, `GH=[redacted] ok`},
		"a newer token of GitHub":  {`github_pat_11ABCDEFG0abcdefghij_abcdefghijklmnop`, `[redacted]`},
		"a password in an address": {`postgres://fleet:hush-hush@db:5432/x`, `postgres://fleet:[redacted]@db:5432/x`},
		"a port in an address stays": {`https://127.0.0.1:46061/subscriptions/a@b`,
			`https://127.0.0.1:46061/subscriptions/a@b`},
		"an ordinary sentence stays": {`pool "system" is Failed`, `pool "system" is Failed`},
		"an operation's address stays": {`https://management.azure.com/x/operations/1?api-version=2025-02-01`,
			`https://management.azure.com/x/operations/1?api-version=2025-02-01`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(redact.Redact([]byte(row.in))); got != row.want {
				t.Errorf("got %s\nwant %s", got, row.want)
			}
		})
	}
}

// TestWhatIsACredential, by what it begins with or by what it is called, and what only reads like one.
func TestWhatIsACredential(t *testing.T) {
	const random = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
	for text, want := range map[string]string{
		"post with xoxb-1234567890-" + random:                  "post with [redacted]",
		"post with xoxp-1234567890-" + random + ".":            "post with [redacted].",
		"npm_" + random[:36]:                                   "[redacted]",
		"clone with glpat-" + random[:20] + " failed":          "clone with [redacted] failed",
		"key sk-ant-api03-" + random + "-x_y":                  "key [redacted]",
		"key sk-" + random:                                     "key [redacted]",
		"AIza" + random[:35]:                                   "[redacted]",
		"AKIAIOSFODNN7EXAMPLE":                                 "[redacted]",
		"AKIAIOSFODNN7EXAMPLE:" + random + " used":             "[redacted] used",
		"aws_secret_access_key = " + random:                    "aws_secret_access_key = [redacted]",
		`{"SecretAccessKey":"abc/def"}`:                        `{"SecretAccessKey":"[redacted]"}`,
		`{"token": "sesame"}`:                                  `{"token": "[redacted]"}`,
		`{"api_key":"sesame","a":"b"}`:                         `{"api_key":"[redacted]","a":"b"}`,
		`{"apiKey": "two words"}`:                              `{"apiKey": "[redacted]"}`,
		`"{\"token\": \"sesame\"}"`:                            `"{\"token\": \"[redacted]\"}"`,
		"mysql --password topsecret99 -h db":                   "mysql --password [redacted] -h db",
		"mysql --password sesame":                              "mysql --password [redacted]",
		"kubeadm join --token abcdef.0123456789abcdef 1.2.3.4": "kubeadm join --token [redacted] 1.2.3.4",
		"Using token: abcdef.0123456789abcdef":                 "Using token: [redacted]",
		"abcdef.0123456789abcdef and u1v2w3.fedcba9876543210":  "[redacted] and [redacted]",
		`args: ["--token", "sesame99", "-v"]`:                  `args: ["--token", "[redacted]", "-v"]`,
		"X-Api-Key: " + random:                                 "X-Api-Key: [redacted]",
		"Authorization: Basic dXNlcjpwYXNz":                    "Authorization: Basic [redacted]",
		`"Authorization": "Basic dXNlcjpwYXNz"`:                `"Authorization": "Basic [redacted]"`,
		"Authorization: " + random:                             "Authorization: [redacted]",
		"token: hunter2":                                       "token: [redacted]",
		"id_token=sesame;x":                                    "id_token=[redacted];x",
		"token: token: hunter2":                                "token: token: [redacted]",
		"password: \"correct horse\" given":                    "password: \"[redacted]\" given",
		"token=deadbeefdeadbeef, next":                         "token=[redacted], next",
		"ghp_abcdefghijklmnopqrstpassword=hunter2":             "[redacted]=[redacted]",
		"got eyJhbGciOi<num>.eyJzdWI<num>iOi.<id> done":        "got [redacted] done",
		"login with password=hunter2 sig":                      "login with password=[redacted] sig",
	} {
		if got := redact.String(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		if got := redact.String(want); got != want {
			t.Errorf("%s becomes %s", want, got)
		}
	}
	for _, text := range []string{
		"token expired", "token: expired", "token=expired", "the token is invalid", "tokens: 12", "max_tokens=4096",
		"token: 12",
		"invalid token: signature is invalid", "cannot fetch token: oauth2: server said no", "unexpected token: }",
		"password authentication failed for user fleet", "--token-file /var/run/token", "--password-file=/etc/pw",
		"the flag --token is required", "use --password with care", "usage: login --token <TOKEN>", "--token $TOKEN",
		"request 3f2a9c0d-11e0-4b55-8a4e-0123456789ab", "sha256:0123456789abcdef0123456789abcdef0123456789abcdef",
		"Basic authentication failed", "Authorization: failed to authenticate", "WWW-Authenticate: Basic realm=x",
		"task-0123456789abcdefghij done", "disk-ant-0123456789", "asia-east1", "Asia/Tokyo", "secret: kube-system/fleet",
		"secretKeyRef: fleet", "imagePullSecret: fleet1234", "key: value1234", "api key: not found",
		"vendor.0123456789abcdef.js", "docker.containermanager", "123456.1234567890123456", "the api key is missing",
		"get token: Get https://10.0.0.1:6443/api: refused", "serviceaccounts/token is forbidden",
		"configuration, as by api.accessToken: --config FILE names it",
		"glob-pattern-0123456789abcdef",
	} {
		if got := redact.String(text); got != text {
			t.Errorf("%s\nbecomes %s", text, got)
		}
	}
}

// BenchmarkRedact is of lines that hold nothing, as nearly all do.
func BenchmarkRedact(b *testing.B) {
	for name, line := range map[string]string{
		"ordinary": `2026-11-24T03:12:09Z info pool "system" of cluster aks-1: node aks-system-1234-vmss000001 is Ready`,
		"hinted":   `2026-11-24T03:12:09Z warning the token of the service account expired, --token-file is read again`,
	} {
		b.Run(name, func(b *testing.B) {
			text := []byte(line)
			for b.Loop() {
				redact.Redact(text)
			}
		})
	}
}
