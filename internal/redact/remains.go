package redact

import (
	"slices"
	"strings"
)

// leastRemain is how many letters and digits of a credential are taken for a part of it.
const leastRemain = 3

// Remains tells whether a text has parts of a credential that stands in one of the originals. It is for texts that were
// made of them by masking what varies: a credential is then no longer to be known by its shape.
func Remains(masked string, originals ...string) bool {
	var secrets []string
	for _, original := range originals {
		secrets = append(secrets, taken(original)...)
	}
	if len(secrets) == 0 {
		return false
	}
	return slices.ContainsFunc(unmarked(masked), func(part string) bool {
		return len(part) >= leastRemain &&
			slices.ContainsFunc(secrets, func(secret string) bool { return strings.Contains(secret, part) })
	})
}

// taken is what Redact takes out of a text, and perhaps something between two of them.
func taken(text string) []string {
	kept := strings.Split(String(text), Mark)
	if len(kept) == 1 {
		return nil
	}
	last := len(kept) - 1
	text = strings.TrimSuffix(strings.TrimPrefix(text, kept[0]), kept[last])
	var secrets []string
	for _, between := range kept[1:last] {
		secret, rest, _ := strings.Cut(text, between)
		secrets, text = append(secrets, secret), rest
	}
	return append(secrets, text)
}

// unmarked are the words of a masked text: letters and digits, without the marks such as <num>.
func unmarked(masked string) []string {
	var text strings.Builder
	for {
		before, rest, open := strings.Cut(masked, "<")
		text.WriteString(before + " ")
		mark, after, closed := strings.Cut(rest, ">")
		if !open {
			break
		}
		if masked = rest; closed && len(mark) <= 16 && !strings.ContainsAny(mark, " <") {
			masked = after
		}
	}
	return strings.FieldsFunc(text.String(), func(char rune) bool {
		return (char < '0' || char > '9') && (char < 'A' || char > 'Z') && (char < 'a' || char > 'z')
	})
}
