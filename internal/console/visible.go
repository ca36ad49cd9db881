package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes a text safe to print: whatever a terminal would obey, or that makes it show text in another order,
// becomes an escape such as \u001b that is read and not obeyed. Records, leases, clusters and servers are written by
// others, who could otherwise clear the screen, hide lines or plant links in an answer. Line feeds and tabs stay.
//
// Inside a JSON string the escapes stand for the same characters, so that JSON stays what it was.
func Visible(text string) string {
	if strings.IndexFunc(text, obeyed) < 0 && utf8.ValidString(text) {
		return text
	}
	var safe strings.Builder
	for _, char := range text { // an invalid byte comes as U+FFFD: a terminal may read it as a control character
		switch {
		case !obeyed(char):
			safe.WriteRune(char)
		case char > 0xffff:
			fmt.Fprintf(&safe, `\U%08x`, char)
		default:
			fmt.Fprintf(&safe, `\u%04x`, char)
		}
	}
	return safe.String()
}

// obeyed tells whether a character is an order and not a text: controls (C0, DEL, C1), and what formats invisibly,
// such as changes of direction. The joiners are formats too, which scripts and emoji need.
func obeyed(char rune) bool {
	switch char {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.Is(unicode.Cc, char) || unicode.Is(unicode.Cf, char)
}
