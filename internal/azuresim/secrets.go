package azuresim

import (
	"encoding/base64"
	"slices"
	"strings"

	"salve/internal/azuresim/template"
)

// secrets are the texts of secure parameters, also of those inside of objects. They are never shown: neither by the
// deployment, nor by those nested in it, nor by what it makes. Where the real ones show what they were given in plain
// fields, the embedded Azure is stricter.
type secrets []string

const hidden = "(hidden)"

// shortest is the length, in bytes, from which on a secret is hidden within other texts. Shorter ones, which would hide
// what they have nothing to do with, are hidden where they stand alone.
const shortest = 8

// and adds the secure values among parameters.
func (s secrets) and(parameters map[string]template.Value) secrets {
	all := slices.Clone(s)
	var add func(any)
	add = func(value any) {
		switch value := value.(type) {
		case string:
			if value != "" {
				all = append(all, value, base64.StdEncoding.EncodeToString([]byte(value)))
			}
		case []any:
			for _, one := range value {
				add(one)
			}
		case map[string]any:
			for _, one := range value {
				add(one)
			}
		}
	}
	for _, parameter := range parameters {
		if parameter.Secure() {
			add(parameter.Value)
		}
	}
	// A secret that holds another has to be found first.
	slices.SortFunc(all, func(x, y string) int { return len(y) - len(x) })
	return slices.Compact(all)
}

// hide is a text without the secrets.
func (s secrets) hide(text string) string {
	for _, secret := range s {
		if text == secret {
			return hidden
		}
		if len(secret) >= shortest {
			text = strings.ReplaceAll(text, secret, hidden)
		}
	}
	return text
}

// conceal is a value without the secrets.
func (s secrets) conceal(value any) any {
	if len(s) == 0 {
		return value
	}
	switch value := value.(type) {
	case string:
		return s.hide(value)
	case []any:
		shown := make([]any, len(value))
		for i := range value {
			shown[i] = s.conceal(value[i])
		}
		return shown
	case map[string]any:
		shown := make(map[string]any, len(value))
		for key := range value {
			shown[key] = s.conceal(value[key])
		}
		return shown
	}
	return value
}
