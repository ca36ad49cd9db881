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
