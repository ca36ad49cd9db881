package onepage

import (
	"crypto/sha256"
	_ "embed" // the styles
	"encoding/base64"
)

//go:embed base.css
var base string

// Styles is a page's style sheet: what all pages share, and then its own.
func Styles(own string) string { return base + own }

// Policy is the Content-Security-Policy of a page: one style sheet, and what else is to be allowed.
func Policy(styles string, allowed ...string) string {
	hash := sha256.Sum256([]byte(styles))
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(hash[:]) + "'"
	for _, one := range allowed {
		policy += "; " + one
	}
	return policy
}
