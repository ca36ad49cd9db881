package secret_test

import (
	"testing"

	"salve/secret"
)

func TestRedact(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"a JSON web token":             {`got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln done`, `got [redacted] done`},
		"a bearer header":              {`Authorization: Bearer abcdef0123456789`, `Authorization: Bearer [redacted]`},
		"a shared-access signature":    {`https://x/y?se=1&sig=abc%2Fdef&sv=2`, `https://x/y?se=1&sig=[redacted]&sv=2`},
		"a client secret in a form":    {`client_id=1&client_secret=s3cr3t&scope=x`, `client_id=1&client_secret=[redacted]&scope=x`},
		"a client secret in JSON":      {`{"client_secret":"s3cr3t"}`, `{"client_secret":"[redacted]"}`},
		"a signature in JSON":          {`"https://x/y?se=1\u0026sig=abcSECRET\u0026sv=2"`, `"https://x/y?se=1\u0026sig=[redacted]\u0026sv=2"`},
		"a secret in JSON in JSON":     {`"{\"client_secret\":\"SECRET\"}"`, `"{\"client_secret\":\"[redacted]\"}"`},
		"a password with a space":      {`"{\"password\": \"SECRET\"}"`, `"{\"password\": \"[redacted]\"}"`},
		"a private key":                {"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END", "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END"},
		"an ordinary sentence stays":   {`pool "system" is Failed`, `pool "system" is Failed`},
		"an operation's address stays": {`https://management.azure.com/x/operations/1?api-version=2025-02-01`, `https://management.azure.com/x/operations/1?api-version=2025-02-01`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(secret.Redact([]byte(row.in))); got != row.want {
				t.Errorf("got %s\nwant %s", got, row.want)
			}
		})
	}
}
