package redact

import (
	"bytes"
	"regexp"
)

// shape is how a credential looks. What it begins with, in lower case, is looked
// for first: most text holds none, and that is quick to see.
type shape struct {
	hints   []string
	pattern *regexp.Regexp
	instead []byte
}

// Mark stands for what was taken out.
const Mark = "[redacted]"

const (
	redacted = Mark
	after    = "${1}" + redacted
)

// shapes are the credentials that Azure, Kubernetes and those around them hand out:
// JSON web tokens, bearer headers, shared-access signatures, keys of accounts in
// connection strings, client secrets, GitHub's tokens, passwords in addresses, PEM
// keys.
var shapes = []shape{ //nolint:gochecknoglobals // compiled once, never changed
	{[]string{"eyj"}, regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), []byte(redacted)},
	{[]string{"bearer"}, regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{8,}`), []byte(after)},
	// JSON, in which journals are written, spells & as \u0026 and a quote as \".
	{[]string{"sig="}, regexp.MustCompile(`(?i)((?:[?&]|\\u0026)sig=)[^&"\\\s]+`), []byte(after)},
	{
		[]string{"secret", "assertion", "token", "password"},
		regexp.MustCompile(`(?i)((?:client_secret|client_assertion|access_token|refresh_token|password)` +
			`(?:\\*["'])?\s*[=:]\s*(?:\\*["'])?)[^&"'\\\s]+`),
		[]byte(after),
	},
	{[]string{"accountkey", "sharedaccesskey"},
		regexp.MustCompile(`(?i)((?:AccountKey|SharedAccessKey)\s*=\s*)[A-Za-z0-9+/=%]{8,}`), []byte(after)},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
		regexp.MustCompile(`(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`), []byte(redacted)},
	{[]string{"://"}, regexp.MustCompile(`(://[^\s/:@"'\\]*:)[^\s/@"'\\]+@`), []byte(after + "@")},
	{[]string{"private key"}, regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)[^-]*`), []byte(after)},
}

// Redact replaces what looks like a credential by "[redacted]".
func Redact(text []byte) []byte {
	lower := bytes.ToLower(text)
	for _, shape := range shapes {
		if shape.hinted(lower) {
			text = shape.pattern.ReplaceAll(text, shape.instead)
		}
	}
	return text
}

func (s shape) hinted(lower []byte) bool {
	for _, hint := range s.hints {
		if bytes.Contains(lower, []byte(hint)) {
			return true
		}
	}
	return false
}
