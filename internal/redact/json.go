package redact

import (
	"encoding/json"
	"regexp"
	"strings"
)

// secretKey is the name of a field whose value is a credential, whatever it looks
// like.
var secretKey = regexp.MustCompile(
	`^(?:(?i:(?:.*[^a-z])?` +
		`(?:password|passwd|passphrase|client_?secret|client_?assertion|(?:access|refresh)?_?token|account_?key|` +
		`api[_-]?key|secret[_-]?(?:access[_-]?)?key))|` +
		`.*[a-z](?:Password|Passwd|Passphrase|ClientSecret|Token|AccountKey|ApiKey|APIKey|SecretKey|SecretAccessKey))$`)

// String is Redact for a string.
func String(text string) string { return string(Redact([]byte(text))) }

// JSON masks the strings of a JSON document, keys and all: each is decoded, masked
// and encoded again, so that what comes out is JSON of the same shape. What holds no
// secret stays as it is, byte for byte. The document must be valid.
func JSON(raw []byte) []byte {
	m := masker{raw: raw}
	m.value("")
	if m.changed == nil {
		return raw
	}
	return append(m.changed, raw[m.copied:]...)
}

// masker walks a valid document.
type masker struct {
	raw []byte
	at  int
	// changed is what was written in the place of raw[:copied]; nil as long as
	// nothing was masked.
	changed []byte
	copied  int
}

// value walks one value; key is the name of the field that it is in.
func (m *masker) value(key string) {
	m.space()
	if m.at >= len(m.raw) {
		return
	}
	switch m.raw[m.at] {
	case '{':
		m.elements('}', func() {
			name := m.text("")
			m.space()
			m.at++ // the colon
			m.value(name)
		})
	case '[':
		m.elements(']', func() { m.value(key) })
	case '"':
		m.text(key)
	default:
		for m.at < len(m.raw) && !strings.ContainsRune(",]} \t\r\n", rune(m.raw[m.at])) {
			m.at++
		}
	}
}

// elements walks what stands between brackets.
func (m *masker) elements(end byte, element func()) {
	m.at++
	for m.at < len(m.raw) {
		m.space()
		if m.at >= len(m.raw) {
			return
		}
		switch m.raw[m.at] {
		case end:
			m.at++
			return
		case ',':
			m.at++
			m.space()
		}
		element()
	}
}

func (m *masker) space() {
	for m.at < len(m.raw) && strings.ContainsRune(" \t\r\n", rune(m.raw[m.at])) {
		m.at++
	}
}

// text walks a string, masks it, and gives what it said.
func (m *masker) text(key string) string {
	from := m.at
	for m.at++; m.at < len(m.raw) && m.raw[m.at] != '"'; m.at++ {
		if m.raw[m.at] == '\\' {
			m.at++
		}
	}
	m.at = min(m.at+1, len(m.raw))
	var said string
	if json.Unmarshal(m.raw[from:m.at], &said) != nil {
		return ""
	}
	shown := String(said)
	if said != "" && secretKey.MatchString(key) {
		shown = redacted
	}
	if shown == said {
		return said
	}
	encoded, err := json.Marshal(shown)
	if err != nil {
		return said // a string can always be encoded
	}
	m.changed = append(append(m.changed, m.raw[m.copied:from]...), encoded...)
	m.copied = m.at
	return said
}
