package armdeployment

import (
	"encoding/json"
	"strings"
)

// hidden stands for a secret in what ARM says: a refusal may quote the value that it
// refuses.
const hidden = "***"

// mask takes the values of secret parameters out of a text. Shorter ones than four
// characters are in any text.
func (o Order) mask(text string) string {
	const shortest = 4
	for name := range o.Secret {
		var given struct{ Value any }
		if !o.Secret[name] || json.Unmarshal(o.Parameters[name], &given) != nil {
			continue
		}
		for _, secret := range texts(given.Value) {
			if len(secret) >= shortest {
				text = strings.ReplaceAll(text, secret, hidden)
			}
		}
	}
	return text
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

func (o Order) maskError(err error) error {
	return &masked{err, o.mask(err.Error())}
}
