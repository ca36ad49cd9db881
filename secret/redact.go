package secret

import "regexp"

// shapes are the credentials that Azure and Kubernetes hand out: JSON web
// tokens, bearer headers, shared-access signatures, client secrets, PEM keys.
var shapes = []*regexp.Regexp{
	regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
	regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{8,}`),
	// JSON, in which journals are written, spells & as \u0026 and a quote as \".
	regexp.MustCompile(`(?i)((?:[?&]|\\u0026)sig=)[^&"\\\s]+`),
	regexp.MustCompile(`(?i)((?:client_secret|client_assertion|access_token|refresh_token|password)(?:\\*["'])?\s*[=:]\s*(?:\\*["'])?)[^&"'\\\s]+`),
	regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)[^-]*`),
}

// Redact replaces what looks like a credential by "[redacted]".
func Redact(text []byte) []byte {
	for _, shape := range shapes {
		text = shape.ReplaceAll(text, []byte("${1}[redacted]"))
	}
	return text
}
