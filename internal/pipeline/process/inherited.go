package process

import (
	"slices"
	"strings"
)

// needed are the variables that any program needs, and that say nothing of who runs it.
func needed() []string {
	return []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}
}

// Inherited are the variables of an environment, as NAME=value, that a program gets: those that any program needs, and
// those that pass names. Credentials, tokens and kubeconfigs are passed on by name alone.
func Inherited(environment, pass []string) []string {
	var all []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains(needed(), name) || slices.Contains(pass, name) {
			all = append(all, variable)
		}
	}
	return all
}
