package armdeployment

import (
	"encoding/json"
	"slices"
	"strings"

	"salve/azure"
)

// hidden stands for a secret in what ARM says: a refusal may quote the value that it
// refuses. Shorter ones than four characters are in any text.
const (
	hidden   = "***"
	shortest = 4
)

// Mask takes the values of secret parameters out of a text, the longest first: one may
// be part of another, of which the rest would be shown.
func (o Order) Mask(text string) string {
	var secrets []string
	for name := range o.Secret {
		var given struct{ Value any }
		if o.Secret[name] && json.Unmarshal(o.Parameters[name], &given) == nil {
			for _, secret := range texts(given.Value) {
				secrets = append(secrets, forms(secret)...)
			}
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if len(secret) >= shortest {
			text = hide(text, secret)
		}
	}
	return text
}

// forms are those in which ARM's words may hold a text: as it is, within JSON, and
// each in the one line that package azure makes of a message.
func forms(text string) []string {
	escapes := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	escaped := escapes.Replace(text)
	return []string{text, azure.OneLine(text), escaped, azure.OneLine(escaped)}
}

// hide takes a secret out of a text, and its beginning from where the text was cut.
func hide(text, secret string) string {
	const cut = "…"
	parts := strings.Split(strings.ReplaceAll(text, secret, hidden), cut)
	for i := range len(parts) - 1 {
		for n := min(len(secret), len(parts[i])); n >= shortest; n-- {
			if before, found := strings.CutSuffix(parts[i], secret[:n]); found {
				parts[i] = before + hidden
				break
			}
		}
	}
	return strings.Join(parts, cut)
}

// texts are all that a value holds, at any depth.
func texts(value any) []string {
	var all []string
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, item := range value {
			all = append(all, texts(item)...)
		}
	case map[string]any:
		for _, item := range value {
			all = append(all, texts(item)...)
		}
	}
	return all
}

// masked is an error in which secrets are not shown.
type masked struct {
	err  error
	text string
}

func (e *masked) Error() string { return e.text }

// Unwrap gives the error as it was: by its class a caller decides.
func (e *masked) Unwrap() error { return e.err }

// MaskError is an error in which secrets are not shown.
func (o Order) MaskError(err error) error {
	return &masked{err, o.Mask(err.Error())}
}
