package rollout

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"salve/internal/redact"
)

// shortest is the length from which on a secret is looked for within other texts: a shorter one is in any text.
const shortest = 4

// shortestCoded is the length from which on a secret is looked for in other forms too, and leastCoded is how much of
// such a form tells it from other text.
const shortestCoded, leastCoded = 6, 6

// masker takes secrets out of texts, as they are and in the forms in which programs print them: base64, escaped for an
// address, escaped for JSON.
type masker struct {
	// forms are texts that give a secret away, the longest first: a secret may hold another one.
	forms []form
}

// form is a way to write a secret.
type form struct {
	text string
	// before and after: the character there holds a part of the secret too, for base64 takes three bytes at a time.
	before, after bool
}

// maskerOf gives the masker of some secrets. Of a secret of several lines each is masked that is long enough to be told
// from other text.
func maskerOf(secrets []string) masker {
	var forms []form
	for _, one := range secrets {
		one = strings.TrimSpace(one)
		for line := range strings.Lines(one) {
			if line = strings.TrimSpace(line); len(line) >= shortest {
				forms = append(forms, form{text: line})
				forms = append(forms, coded(line)...)
			}
		}
		if strings.Contains(one, "\n") {
			forms = append(forms, coded(one)...)
		}
	}
	slices.SortFunc(forms, func(a, b form) int {
		return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text))
	})
	return masker{slices.Compact(forms)}
}

// coded are the other forms of a secret.
func coded(secret string) []form {
	if len(secret) < shortestCoded {
		return nil
	}
	forms := based(secret)
	for _, text := range []string{
		url.QueryEscape(secret), url.PathEscape(secret), quoted(secret, true), quoted(secret, false),
	} {
		if text != secret {
			forms = append(forms, form{text: text}, form{text: lowerEscapes.ReplaceAllStringFunc(text, strings.ToLower)})
		}
	}
	return forms
}

var lowerEscapes = regexp.MustCompile(`%[0-9A-F]{2}`)

// quoted is a text within quotes of JSON.
func quoted(text string, escapeHTML bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	if encoder.Encode(text) != nil {
		return text
	}
	return strings.Trim(out.String(), "\"\n")
}

// widths are those of the lines into which programs break base64: base64 of coreutils, OpenSSL.
func widths() []int { return []int{76, 64} }

// based are the forms of a secret in base64, in both alphabets. It looks different by how many bytes are before it, as
// the user's name in a basic authentication.
func based(secret string) []form {
	var forms []form
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			whole := alphabet.EncodeToString(append(make([]byte, before), secret...))
			one := form{before: before > 0, after: (before+len(secret))%3 > 0}
			one.text = whole[(before*8+5)/6:]
			if one.after {
				one.text = one.text[:len(one.text)-1]
			}
			if len(one.text) >= leastCoded {
				forms = append(forms, one)
			}
			if before > 0 {
				continue
			}
			for _, width := range widths() {
				for at := 0; at < len(whole) && len(whole) > width; at += width {
					if part := whole[at:min(at+width, len(whole))]; len(part) >= leastCoded {
						forms = append(forms, form{text: part})
					}
				}
			}
		}
	}
	return forms
}

// mask takes the secrets out of a text, and whatever has the shape of one.
func (m masker) mask(text string) string {
	for _, one := range m.forms {
		text = one.mask(text)
	}
	return string(redact.Redact([]byte(text)))
}

// found tells whether a secret is in a text.
func (m masker) found(text string) bool {
	return slices.ContainsFunc(m.forms, func(one form) bool { return strings.Contains(text, one.text) })
}

func (f form) mask(text string) string {
	at := strings.Index(text, f.text)
	if at < 0 {
		return text
	}
	var out strings.Builder
	for ; at >= 0; at = strings.Index(text, f.text) {
		kept, rest := text[:at], text[at+len(f.text):]
		if f.before && kept != "" && isBase64(kept[len(kept)-1]) {
			kept = kept[:len(kept)-1]
		}
		if f.after && rest != "" && isBase64(rest[0]) {
			rest = strings.TrimLeft(rest[1:], "=")
		}
		out.WriteString(kept + hidden)
		text = rest
	}
	return out.String() + text
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_", c) >= 0
}

// mask takes secrets out of a text, and whatever has the shape of one.
func mask(text string, secrets []string) string { return maskerOf(secrets).mask(text) }
