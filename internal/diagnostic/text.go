package diagnostic

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Text writes a list as lines that terminals and editors understand. What a
// terminal would obey instead of show is replaced.
func Text(w io.Writer, list List) error {
	out := bufio.NewWriter(w)
	for _, d := range list {
		fmt.Fprintln(out, Printable(d.String()))
	}
	return out.Flush()
}

// Printable is a text on one line, without what a terminal would obey instead of
// show.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return '�'
	}, text)
}
