package redact_test

import (
	"testing"

	"salve/internal/redact"
)

func TestRemainsOfACredential(t *testing.T) {
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
	for name, row := range map[string]struct {
		masked   string
		original string
		want     bool
	}{
		"a token in parts":         {"denied eyJhbGciOi<num>.eyJzdWI<num>", "denied " + token + " at 12:03", true},
		"a password less a digit":  {"login with hunter<num> failed", "login with password=hunter2 failed", true},
		"the second of two":        {"got <id> and sesame", "password=x1 and then token=sesame99", true},
		"nothing of it":            {"login as <id> failed after <duration>", "login with password=hunter2 failed", false},
		"marks are no part":        {"<token> is gone", "password=a<token>b", false},
		"no credential at all":     {"eyJ<num> is what it said", "nothing of the kind", false},
		"a mark that is not ended": {"less < than hunter", "password=hunter2", true},
	} {
		if got := redact.Remains(row.masked, "first", row.original); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
