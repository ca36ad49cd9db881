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
// connection strings, tokens and keys that say whose they are, passwords in
// addresses, PEM keys. What is one by its name alone is named's to find.
var shapes = []shape{ //nolint:gochecknoglobals // compiled once, never changed
	// What varied in it may have been masked for grouping.
	{
		[]string{"eyj"},
		regexp.MustCompile(`eyJ(?:[A-Za-z0-9_-]|<[a-z]+>){3,}\.(?:[A-Za-z0-9_-]|<[a-z]+>){3,}\.(?:[A-Za-z0-9_-]|<[a-z]+>)*`),
		[]byte(redacted),
	},
	{[]string{"bearer"}, regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{8,}`), []byte(after)},
	// JSON, in which journals are written, spells & as \u0026 and a quote as \".
	{[]string{"sig="}, regexp.MustCompile(`(?i)((?:[?&]|\\u0026)sig=)[^&"\\\s]+`), []byte(after)},
	// Signatures and keys in addresses, as S3, Google, CloudFront, API Management and Functions have them. What may be
	// another thing by its name has the length of a key.
	{[]string{"signature=", "credential=", "security-token=", "subscription-key="},
		regexp.MustCompile(`(?i)((?:[?&]|\\u0026)(?:x-(?:amz|goog)-)?(?:signature|credential|` +
			`security-token|subscription-key)=)[^&"\\\s]+`), []byte(after)},
	{[]string{"code=", "key="}, regexp.MustCompile(`(?i)((?:[?&]|\\u0026)(?:code|key)=)[^&"\\\s]{16,}`), []byte(after)},
	// Addresses of webhooks are the right to use them.
	{[]string{"/services/t"}, regexp.MustCompile(`(/services/T[A-Z0-9]+/B[A-Z0-9]+/)[A-Za-z0-9]{8,}`), []byte(after)},
	{[]string{"/api/webhooks/"}, regexp.MustCompile(`(/api/webhooks/[0-9]+/)[A-Za-z0-9_-]{8,}`), []byte(after)},
	{[]string{"/webhookb2/"}, regexp.MustCompile(`(/webhookb2/)[^"\\\s]+`), []byte(after)},
	{[]string{"accountkey", "sharedaccesskey"},
		regexp.MustCompile(`(?i)((?:AccountKey|SharedAccessKey)\s*=\s*)[A-Za-z0-9+/=%]{8,}`), []byte(after)},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
		regexp.MustCompile(`(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`), []byte(redacted)},
	{[]string{"xox", "xapp-"}, regexp.MustCompile(`\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}`), []byte(redacted)},
	{[]string{"npm_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{20,}`), []byte(redacted)},
	{[]string{"gl"}, regexp.MustCompile(`\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_.-]{16,}`),
		[]byte(redacted)},
	{[]string{"sk-"}, regexp.MustCompile(`\bsk-(?:(?:ant|proj|svcacct|admin)-[A-Za-z0-9_-]{8,}|[A-Za-z0-9]{20,})`),
		[]byte(redacted)},
	{[]string{"aiza"}, regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`), []byte(redacted)},
	// The secret of a key of AWS shows by its length alone: beside the key it is known.
	{[]string{"akia", "asia"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b(?:[ \t:/]+[A-Za-z0-9/+]{40})?`),
		[]byte(redacted)},
	{[]string{"://"}, regexp.MustCompile(`(://[^\s/:@"'\\]*:)[^\s/@"'\\]+@`), []byte(after + "@")},
	{[]string{"private key"}, regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)[^-]*`), []byte(after)},
}

// Redact replaces what looks like a credential by "[redacted]".
func Redact(text []byte) []byte {
	lower := bytes.ToLower(text)
	// Names first: a shape of letters would swallow a name that stands right behind it.
	for _, name := range named {
		if hinted(lower, name.hints) {
			text = name.replace(text)
		}
	}
	for _, shape := range shapes {
		if hinted(lower, shape.hints) {
			text = shape.pattern.ReplaceAll(text, shape.instead)
		}
	}
	return bootstrapTokens(text)
}

func hinted(lower []byte, hints []string) bool {
	for _, hint := range hints {
		if bytes.Contains(lower, []byte(hint)) {
			return true
		}
	}
	return false
}
