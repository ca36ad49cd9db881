package redact

import (
	"bytes"
	"regexp"
)

// name is how a credential is announced. The pattern's groups: name, mark and value, and the quotes before them, which
// are empty without any.
type name struct {
	hints   []string
	pattern *regexp.Regexp
	// credible tells whether a value can be a credential: a sentence has words in its place.
	credible func(announced) bool
}

// announced is one value with what announces it.
type announced struct{ name, nameQuote, mark, quote, value []byte }

// Value of a name: what is within quotes, or a word.
const (
	opening = `(?P<quote>\\*["'])?`
	word    = `(?P<value>[^&"'\\\s]+)`
	between = `(?P<nameQuote>\\*["'])?(?P<mark>[ \t]*[=:][ \t]*)`
)

// alwaysSecret are names of which each value is a credential: no sentence has them before a colon, as it may have
// accessToken, which is the name of a field.
var alwaysSecret = regexp.MustCompile(
	`(?i)^(?:client_secret|client_assertion|access_token|refresh_token|password)$`)

var named = []name{ //nolint:gochecknoglobals // compiled once, never changed
	{
		hints: []string{"token", "key", "secret", "assertion", "password", "passwd", "passphrase"},
		pattern: regexp.MustCompile(`(?i)(?P<name>client_?secret|client_?assertion|access_?token|refresh_?token|token|` +
			`password|passwd|passphrase|api[ _-]?key|secret[_-]?(?:access[_-]?)?key)` + between + opening + word),
		credible: announced.assigned,
	},
	{
		hints: []string{"authorization"},
		pattern: regexp.MustCompile(`(?i)(?P<name>authorization)` + between + opening +
			`(?:basic|token|negotiate|digest|apikey)[ \t]+` + word),
		credible: func(a announced) bool { return len(a.value) >= 6 && !lowerCase(a.value) },
	},
	{
		hints:    []string{"authorization"},
		pattern:  regexp.MustCompile(`(?i)(?P<name>authorization)` + between + opening + word),
		credible: func(a announced) bool { return random(a.value) },
	},
	{
		hints: []string{"-token", "-passw", "-passphrase", "-api-key", "-secret"},
		// In a list of arguments, name and value are quoted each.
		pattern: regexp.MustCompile(`(?i)(?P<name>--(?:[a-z0-9]+-)*(?:password|passwd|passphrase|token|api-key|` +
			`client-secret|secret-key|secret-access-key))(?P<nameQuote>\\*["'])?(?P<mark>,?[ \t]+)` + opening + word),
		credible: func(a announced) bool { return len(a.value) >= 4 && a.value[0] != '-' && !plain(a.value) },
	},
}

// replace masks the credible values.
func (n name) replace(text []byte) []byte {
	group := func(found []int, called string) []byte {
		if at := 2 * n.pattern.SubexpIndex(called); found[at] >= 0 {
			return text[found[at]:found[at+1]]
		}
		return nil
	}
	var out []byte
	for {
		found := n.pattern.FindSubmatchIndex(text)
		if found == nil {
			return append(out, text...)
		}
		begin := found[2*n.pattern.SubexpIndex("value")]
		end := found[1]
		one := announced{
			group(found, "name"), group(found, "nameQuote"), group(found, "mark"), group(found, "quote"), text[begin:end],
		}
		if len(one.quote) > 0 { // it ends where the quote does, on this line
			if more := bytes.IndexAny(text[end:], "\"'\\\r\n"); more > 0 {
				end += more
			}
		} else if !alwaysSecret.Match(one.name) {
			if more := bytes.IndexAny(one.value, ",;"); more > 0 {
				one.value = one.value[:more]
			}
			one.value = bytes.TrimRight(one.value, ",;.)}]>")
			end = begin + len(one.value)
		}
		if len(one.value) == 0 || bytes.HasPrefix(one.value, []byte("[redacted")) || !n.credible(one) {
			// The value may announce another one.
			out, text = append(out, text[:begin]...), text[begin:]
			continue
		}
		out, text = append(append(out, text[:begin]...), redacted...), text[end:]
	}
}

// assigned tells whether name=value or name: value gives a credential. After a colon prose goes on as well: what
// stands there has to look like one, unless the name is quoted, as in JSON.
func (a announced) assigned() bool {
	switch {
	case alwaysSecret.Match(a.name):
		return true
	case len(a.quote) > 0 && len(a.nameQuote) > 0:
		return true
	case bytes.IndexByte(a.mark, '=') >= 0:
		return len(a.value) >= 6 && !plain(a.value) && letters(a.value) > 0
	}
	return random(a.value)
}

// random tells whether a word looks as if nobody had made it up to be read.
func random(word []byte) bool {
	if len(word) < 7 || word[len(word)-1] == ':' || plain(word) || bytes.Contains(word, []byte("://")) ||
		bytes.Contains(word, []byte("[redacted")) {
		return false
	}
	if bytes.ContainsAny(word, "0123456789") && letters(word) >= 3 {
		return true
	}
	return len(word) >= 20 && !bytes.ContainsAny(word, "/.:")
}

func letters(word []byte) int {
	count := 0
	for _, char := range word {
		if char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' {
			count++
		}
	}
	return count
}

func lowerCase(word []byte) bool {
	for _, char := range word {
		if char < 'a' || char > 'z' {
			return false
		}
	}
	return true
}

// ordinary are words that stand where a credential would: states of one, and what goes on after a flag's name.
var ordinary = regexp.MustCompile(
	`(?i)^(?:true|false|null|none|nil|unknown|unset|empty|missing|expired|invalid|required|requires|requested|` +
		`disabled|enabled|default|denied|revoked|rejected|accepted|valid|present|absent|optional|provided|given|` +
		`bearer|must|cannot|with|without|from|flag|flags|option|options|argument|value|file|path|when|have|` +
		`should|needs|that|this|which|were|will|been|file:|deprecated|unsupported|specified|instead)[.,:;]*$`)

// plain tells whether a word is one of a sentence, or a place that is to be filled.
func plain(word []byte) bool {
	return bytes.IndexByte([]byte("$<{([%*/"), word[0]) >= 0 || bytes.HasPrefix(word, []byte("...")) ||
		ordinary.Match(word)
}

// Of a bootstrap token of kubeadm: six characters, a dot, sixteen characters.
const (
	tokenID     = 6
	tokenSecret = 16
)

// bootstrapTokens masks tokens of kubeadm wherever they stand. An expression would look at every letter of every text.
func bootstrapTokens(text []byte) []byte {
	for dot := tokenID; dot+tokenSecret < len(text); dot++ {
		next := bytes.IndexByte(text[dot:], '.')
		if next < 0 {
			break
		}
		dot += next
		begin, end := dot-tokenID, dot+1+tokenSecret
		if end > len(text) || !isToken(text[begin:dot], text[dot+1:end]) ||
			begin > 0 && joined(text[begin-1]) || end < len(text) && joined(text[end]) {
			continue
		}
		text = append(append(bytes.Clone(text[:begin]), redacted...), text[end:]...)
		dot = begin + len(redacted)
	}
	return text
}

// isToken tells whether a name and a secret are of small letters and digits; a secret that is all letters is a word,
// and one that is all digits a fraction.
func isToken(id, secret []byte) bool {
	digits := 0
	for _, char := range secret {
		if char >= '0' && char <= '9' {
			digits++
		}
	}
	small := func(char rune) bool { return char >= 'a' && char <= 'z' || char >= '0' && char <= '9' }
	rest := func(char rune) bool { return !small(char) }
	return bytes.IndexFunc(id, rest) < 0 && bytes.IndexFunc(secret, rest) < 0 && digits > 0 && digits < tokenSecret
}

// joined tells whether a character goes on with a name, such as that of a file or of a host.
func joined(char byte) bool {
	return char >= '0' && char <= '9' || char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' ||
		char == '-' || char == '_' || char == '.' || char == '/'
}
