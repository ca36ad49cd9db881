package diagnostic

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

const (
	// longest is how many characters of a message are said at most.
	longest = 1000
	// ending is how many of them are its last: what is wrong mostly stands behind a value.
	ending = 200
)

// Bounded is a text of which the middle is left out where it is too long to be read.
func Bounded(text string) string {
	count := utf8.RuneCountInString(text)
	if count <= longest {
		return text
	}
	all := []rune(text)
	return fmt.Sprintf("%s … (%d characters are left out) … %s", string(all[:longest-ending]), count-longest,
		string(all[count-ending:]))
}

// Placed is a diagnostic of what is looked at in several places, such as a cloud's regions.
type Placed struct {
	Diagnostic
	// Places are those in which it shows; nil where that is all of them.
	Places []string `json:"places,omitempty"`
}

// MarshalJSON writes it like a diagnostic, with the places.
func (p Placed) MarshalJSON() ([]byte, error) {
	type plain Diagnostic
	return json.Marshal(struct {
		plain
		Places []string `json:"places,omitempty"`
	}{plain(p.bounded()), p.Places})
}

// MarshalJSON writes the diagnostic with texts that are bounded.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	type plain Diagnostic
	return json.Marshal(plain(d.bounded()))
}

// bounded is the diagnostic with texts that are bounded.
func (d Diagnostic) bounded() Diagnostic {
	d.Step, d.Message, d.Advice = Bounded(d.Step), Bounded(d.Message), Bounded(d.Advice)
	return d
}
